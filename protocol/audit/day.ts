import type { Timestamp } from '../time.ts';

/** A day of UTC, `2026-11-20`. Text order is time order. */
export type AuditDay = string & { readonly __brand: 'AuditDay' };

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const DAY_CHARACTERS = '2026-11-20'.length;
const DAY_MS = 86_400_000;

export class AuditDayError extends Error {
  override readonly name = 'AuditDayError';
}

/** True for days that exist. */
export function isAuditDay(text: string): text is AuditDay {
  return DAY.test(text) && new Date(`${text}T00:00:00.000Z`).toJSON()?.slice(0, DAY_CHARACTERS) === text;
}

/** Throws `AuditDayError` unless the text is a day that exists. */
export function auditDay(text: string): AuditDay {
  if (!isAuditDay(text)) throw new AuditDayError(`not a day: ${JSON.stringify(text.slice(0, 40))}`);
  return text;
}

export function dayOf(at: Timestamp): AuditDay {
  const day = at.slice(0, DAY_CHARACTERS);
  // A timestamp only tells days that exist, so the form is all that needs a look.
  if (!hasForm(day)) throw new AuditDayError('not a day');
  return day;
}

export function isSameDay(a: Timestamp, b: Timestamp): boolean {
  return a.slice(0, DAY_CHARACTERS) === b.slice(0, DAY_CHARACTERS);
}

/** Epoch milliseconds at which a day begins. */
export function dayStart(day: AuditDay): number {
  return Date.parse(`${day}T00:00:00.000Z`);
}

/** Epoch milliseconds at which a day is over, leap seconds apart. */
export function dayEnd(day: AuditDay): number {
  return dayStart(day) + DAY_MS;
}

function hasForm(text: string): text is AuditDay {
  return DAY.test(text);
}
