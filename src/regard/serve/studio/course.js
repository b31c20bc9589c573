// The course of a training, gathered from its log as it grows: points by what was measured.

import { get } from "./client.js";

/**
 * @typedef {{number: number, seconds: number, value: number}} Measured
 * @typedef {{terms: Record<string, unknown>, measured: Map<string, Measured[]>, next: number, ended: boolean}} Course
 */

/** @returns {Course} */
export function newCourse() {
  return { terms: {}, measured: new Map(), next: 0, ended: false };
}

/**
 * Take in what was logged.
 * @param {Course} course
 * @param {any[]} events
 */
export function takeIn(course, events) {
  for (const event of events) {
    const { number, seconds } = event;
    course.ended = event.event === "end";
    if (event.event === "start" || event.event === "resume") {
      course.terms = event.terms ?? course.terms;
      // What was logged for later updates is void: they are made again.
      for (const [name, all] of course.measured)
        course.measured.set(
          name,
          all.filter((each) => each.number <= number),
        );
    }
    if (event.event === "step") {
      for (const name of ["nll", "rate", "speed", "norm"]) add(course, `train: ${name}`, number, seconds, event[name]);
    }
    if (event.event === "validate") {
      for (const [name, value] of Object.entries(event.values))
        add(course, `validation: ${name}`, number, seconds, value);
    }
  }
}

function add(course, name, number, seconds, value) {
  if (typeof value !== "number") return;
  if (!course.measured.has(name)) course.measured.set(name, []);
  course.measured.get(name).push({ number, seconds, value });
}

/**
 * Read what is new in the log of a run.
 * @param {Course} course
 * @param {string} name
 * @param {AbortSignal} signal
 * @returns {Promise<boolean>} was anything new?
 */
export async function follow(course, name, signal) {
  let before = -1;
  const began = course.next;
  while (course.next !== before) {
    before = course.next;
    const found = await get(`api/v1/runs/log?${new URLSearchParams({ name, after: String(course.next) })}`, signal);
    takeIn(course, found.events);
    course.next = found.next;
  }
  return course.next > began;
}

/**
 * Some of many points, evenly, the last one among them.
 * @template T
 * @param {T[]} points
 * @param {number} most
 * @returns {T[]}
 */
export function thin(points, most) {
  if (points.length <= most) return points;
  return Array.from({ length: most }, (_, index) => points[Math.round((index * (points.length - 1)) / (most - 1))]);
}

/**
 * The settings that two runs do not share.
 * @param {Course} one
 * @param {Course} other
 * @returns {{name: string, one: string, other: string}[]}
 */
export function differences(one, other) {
  const told = (value) => (value === undefined ? "not there" : JSON.stringify(value));
  const names = [...new Set([...Object.keys(one.terms), ...Object.keys(other.terms)])];
  return names
    .map((name) => ({ name, one: told(one.terms[name]), other: told(other.terms[name]) }))
    .filter((each) => each.one !== each.other);
}
