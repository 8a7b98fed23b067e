import type { IncidentPlace } from '../governance/incidents.ts';

const DIGITS = 16;

/** A place in the list of incidents, before all whose first clock ends at a time (epoch milliseconds) or later. */
export function placeAt(epochMilliseconds: number): IncidentPlace {
  const time = String(Math.max(0, Math.floor(epochMilliseconds))).padStart(DIGITS, '0');
  return `${time}/${'0'.repeat(DIGITS)}`;
}
