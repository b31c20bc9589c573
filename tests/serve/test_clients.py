"""Programs that people have, unchanged, against a server that runs: they agree with the model, and know a wrong key."""

import json
import shutil
import subprocess
import tempfile
from urllib.error import HTTPError
from urllib.request import urlopen

import azure.core.exceptions
import deep_translator
import deepl
import openai
import pytest
from azure.ai.translation.text import TextTranslationClient
from azure.core.credentials import AzureKeyCredential
from deep_translator.exceptions import AuthorizationException
from libretranslatepy import LibreTranslateAPI

from regard.data.files import cache_folder
from serving import LINES, captioner, continuer, picture, running, spoken, translator

KEY = "a-secret-key"
PACKAGES = ("libretranslate@1.0.1", "deepl-node@1.28.0")
SECONDS = 30  # that npm may take
LIBRE = """
const { translate } = require('libretranslate');
const [apiurl, query, apiKey] = process.argv.slice(1);
translate({ query, source: 'de', target: 'en', apiurl, apiKey })
  .then((found) => console.log(JSON.stringify(found === undefined ? null : found)));
"""
DEEPL = """
const deepl = require('deepl-node');
const [serverUrl, query, key] = process.argv.slice(1);
const client = new deepl.Translator(key, { serverUrl, maxRetries: 0 });
client.translateText([query, query], 'de', 'en-GB')
  .then((found) => console.log(JSON.stringify(found.map((each) => each.text))))
  .catch((error) => console.log(JSON.stringify(error.constructor.name)));
"""
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # of sockets that clients leave open
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    models = {"toy": spoken(), "back": spoken("en", "de"), "goes-on": continuer()}
    models["describes"] = captioner(tmp_path_factory.mktemp("captions"))
    with running(models, keys=(("test", KEY),)) as found:
        yield found.address


@pytest.fixture(scope="module")
def own():
    return translator().translate(LINES)


def test_libretranslatepy(address, own):
    api = LibreTranslateAPI(address, KEY)
    assert api.translate(LINES[0], "de", "en") == own[0].text
    assert {"code": "de", "name": "German", "targets": ["en"]} in api.languages()
    assert api.detect(LINES[0])[0]["language"] == "de"
    with pytest.raises(HTTPError, match="403"):
        LibreTranslateAPI(address, "wrong").translate("ja", "de", "en")


def test_deep_translator(address, own):
    told = {"source": "de", "target": "en", "custom_url": f"{address}/"}
    api = deep_translator.LibreTranslator(api_key=KEY, **told)
    assert api.translate(LINES[0]) == own[0].text
    assert api.translate_batch(LINES) == [each.text for each in own]
    with pytest.raises(AuthorizationException):
        deep_translator.LibreTranslator(api_key="wrong", **told).translate("ja")


def test_deepl(address, own):
    api = deepl.Translator(KEY, server_url=address)
    found = api.translate_text(LINES, source_lang="DE", target_lang="EN-GB")
    assert [each.text for each in found] == [each.text for each in own]
    assert [each.detected_source_lang for each in found] == ["DE"] * 3
    html = api.translate_text(f"<p>{LINES[0]}</p>", target_lang="EN-GB", tag_handling="html")
    assert html.text == f"<p>{own[0].text}</p>" and html.billed_characters == len(LINES[0]) + 7
    assert {each.code for each in api.get_source_languages()} == {"DE", "EN"}
    assert api.get_usage().character.count > 0 and not api.get_usage().any_limit_reached
    with pytest.raises(deepl.AuthorizationException):
        deepl.Translator("wrong", server_url=address).translate_text("ja", target_lang="EN-GB")


def test_deepl_knows_a_quota_that_is_used_up():
    with running({"toy": spoken()}, quota=9) as found, pytest.raises(deepl.QuotaExceededException):
        deepl.Translator("any", server_url=found.address).translate_text(LINES, target_lang="EN-GB")


def test_azure(address, own):
    with TextTranslationClient(credential=AzureKeyCredential(KEY), endpoint=address) as api:
        found = api.translate(body=LINES, from_language="de", to_language=["en"], include_alignment=True)
        for line, one, right in zip(LINES, found, own, strict=True):
            assert one.translations[0].text == right.text
            proj = one.translations[0].alignment.proj.split()
            links = right.alignment.links()
            assert len(proj) == len(links)
            for told, (s, t) in zip(proj, links, strict=True):
                (a, b), (c, d) = (map(int, side.split(":")) for side in told.split("-"))
                assert line[a : b + 1] == right.alignment.source[s]
                assert right.text[c : d + 1] == right.alignment.target[t]
    with (
        TextTranslationClient(credential=AzureKeyCredential("wrong"), endpoint=address) as api,
        pytest.raises(azure.core.exceptions.ClientAuthenticationError),
    ):
        api.translate(body=["ja"], to_language=["en"])


def test_openai(address, own):
    with openai.OpenAI(base_url=f"{address}/v1", api_key=KEY, max_retries=0) as api:
        assert [each.id for each in api.models.list()] == ["toy", "back", "goes-on", "describes"]
        told = [{"role": "user", "content": LINES[0]}]
        assert api.chat.completions.create(model="toy", messages=told).choices[0].message.content == own[0].text
        with api.chat.completions.create(model="toy", messages=told, stream=True) as stream:
            said = "".join(each.choices[0].delta.content or "" for each in stream)
        assert said == translator().translate(LINES[0], beam=1).text
        asked = {"model": "goes-on", "prompt": "the man", "max_tokens": 5, "temperature": 0}
        right = continuer().generate("the man", greedy=True, max_length=5).continuation
        assert api.completions.create(**asked).choices[0].text == right
        with api.completions.create(**asked, stream=True) as stream:
            assert "".join(each.choices[0].text for each in stream) == right
        image = [{"type": "image_url", "image_url": {"url": picture()}}]
        told = [{"role": "user", "content": image}]
        assert api.chat.completions.create(model="describes", messages=told, max_tokens=5).choices[0].message.content
        with pytest.raises(openai.NotFoundError):
            api.chat.completions.create(model="nix", messages=told)
        with pytest.raises(openai.BadRequestError):
            api.chat.completions.create(model="toy", messages=told)
    with (
        openai.OpenAI(base_url=f"{address}/v1", api_key="wrong", max_retries=0) as api,
        pytest.raises(openai.AuthenticationError),
    ):
        api.models.list()


@pytest.fixture(scope="module")
def modules():
    """The folder of the packages from npm, installed once for all runs of the tests."""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("there is no node, or no npm")
    home = cache_folder() / ("npm-" + "-".join(PACKAGES).replace("@", "-"))
    if not home.is_dir():
        home.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home.parent) as fresh:
            command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", fresh, *PACKAGES]
            try:
                subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                pytest.skip(f"npm cannot install {' '.join(PACKAGES)} here: {error}")
            if not home.is_dir():  # another process may have been faster
                shutil.copytree(fresh, home, dirs_exist_ok=True)
    return home


def node(modules, script, *words):
    command = ["node", "-e", script, "--", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=modules)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_libretranslate_of_npm(address, own, modules):
    assert node(modules, LIBRE, address, LINES[0], KEY) == own[0].text
    assert node(modules, LIBRE, address, LINES[0], "wrong") is None  # all that it makes of a refusal


def test_deepl_node(address, own, modules):
    assert node(modules, DEEPL, address, LINES[0], KEY) == [own[0].text] * 2
    assert node(modules, DEEPL, address, LINES[0], "wrong") == "AuthorizationError"


def test_every_client_was_counted(address):
    with urlopen(f"{address}/metrics") as found:
        told = found.read().decode()
    for route in ("/translate", "/v2/translate", "/v1/chat/completions", "/v1/completions"):
        assert f'regard_requests_total{{route="{route}",status="200"}}' in told
    assert KEY not in told and "127.0.0.1" not in told
