import { count, type TextTable } from '../bench/table.ts';
import type { Cost, Measured } from './measured.ts';
import { type Day, predictDay, predictIdle, predictBatch, type Setting, type UnitCosts } from './model.ts';

const SECONDS_A_DAY = 86_400;
const MEGABYTE = 1e6;
const GIGABYTE = 1e9;

/** A way to run a large federation. */
export interface Way {
  readonly name: string;
  readonly setting: Setting;
}

/** What one node is thought to have: more than this, and it does not keep up or is too dear. */
const BUDGETS: readonly (readonly [name: string, most: number, of: (day: Day) => number])[] = [
  ['processor', 1, ({ cores }) => cores],
  // Half of 100 Mbit/s each way.
  ['network', (SECONDS_A_DAY * 100e6) / 8 / 2, ({ received, sent }) => Math.max(received, sent)],
  // A terabyte for a quarter of a year.
  ['disk', 1e12 / 91, ({ stored }) => stored],
];

/** What was measured, one column a size. */
export function measuredTable(all: readonly Measured[]): TextTable {
  const row = (name: string, of: (measured: Measured) => string) => [name, ...all.map(of)];
  const kilobytes = (of: (measured: Measured) => number) => (measured: Measured) => `${count(of(measured) / 1000)} kB`;
  return [
    row('members', ({ members }) => count(members)),
    row('until all are connected', ({ meshed }) => `${count(meshed)} ms`),
    row('memory of a member', ({ memory }) => `${count(memory / MEGABYTE)} MB`),
    row('idle, received a second', ({ idle }) => `${count(idle.received)} B`),
    row('idle, processor', ({ idle }) => `${(idle.cpu / 10_000).toFixed(2)} %`),
    row(
      'a batch of 1 record by each: received',
      kilobytes(({ small }) => small.received),
    ),
    row('… processor of a member', ({ small }) => `${count(small.cpu / 1000)} ms`),
    row('… one batch everywhere, vouched for by all, confirmed', ({ small }) => `${count(small.everywhere)} ms`),
    row('a batch of many by each: records', ({ records }) => count(records)),
    row(
      '… received',
      kilobytes(({ large }) => large.received),
    ),
    row('… processor of a member', ({ large }) => `${count(large.cpu / 1000)} ms`),
    row('stored: a record', ({ stored }) => `${count(stored.record)} B`),
    row('… a batch with its decision', ({ stored }) => `${count(stored.batch)} B`),
    row('… an own record besides', ({ stored }) => `${count(stored.own)} B`),
    row('a lost store taken back', ({ catchUp }) => `${count(catchUp.milliseconds)} ms`),
    row(
      '… received',
      kilobytes(({ catchUp }) => catchUp.received),
    ),
  ];
}

/** How far a prediction is from what was measured: 0.1 is ten per cent too much. */
export interface Deviation {
  readonly what: string;
  readonly predicted: number;
  readonly measured: number;
  readonly deviation: number;
}

/** The model, made of smaller federations, against a larger one. */
export function deviations(costs: UnitCosts, measured: Measured): Deviation[] {
  const { members, records, idle, small, large } = measured;
  const compare = (what: string, predicted: Cost, real: Cost, quantities: readonly (keyof Cost)[]) =>
    quantities.map((q) => ({
      what: `${what}: ${q}`,
      predicted: predicted[q],
      measured: real[q],
      deviation: predicted[q] / real[q] - 1,
    }));
  return [
    ...compare('idle second', predictIdle(costs, members), idle, ['received', 'cpu']),
    ...compare('a batch of 1', predictBatch(costs, members, 1), small, ['received', 'cpu']),
    ...compare(`a batch of ${records}`, predictBatch(costs, members, records), large, ['received', 'cpu']),
  ];
}

export function deviationTable(all: readonly Deviation[]): TextTable {
  return [
    ['quantity', 'predicted', 'measured', 'deviation'],
    ...all.map(({ what, predicted, measured, deviation }) => [
      what,
      count(predicted),
      count(measured),
      `${(deviation * 100).toFixed(0)} %`,
    ]),
  ];
}

/** A day of one node in each of the ways, and what it has too little of. */
export function dayTable(costs: UnitCosts, ways: readonly Way[]): TextTable {
  const days = ways.map(({ setting }) => ({ setting, day: predictDay(costs, setting) }));
  const row = (name: string, of: (day: Day, setting: Setting) => string) => [
    name,
    ...days.map(({ day, setting }) => of(day, setting)),
  ];
  const gigabytes = (bytes: number) => `${(bytes / GIGABYTE).toFixed(1)} GB`;
  return [
    ['a day of one node', ...ways.map(({ name }) => name)],
    row('members, seconds a batch', (_, { members, interval }) => [members, interval].join(' · ')),
    row('batches of all', ({ batches }) => count(batches)),
    row('checkpoints that it signs', ({ checkpoints }) => count(checkpoints)),
    row('received', ({ received }) => gigabytes(received)),
    row('sent', ({ sent }) => gigabytes(sent)),
    row('stored', ({ stored }) => gigabytes(stored)),
    row('processor', ({ cores }) => `${cores.toFixed(2)} cores`),
    row('ledger, all nodes', ({ ledgerUsd }) => `$${ledgerUsd.toFixed(0)}`),
    row('ledger, this node', ({ ledgerUsd }, { members }) => `$${(ledgerUsd / members).toFixed(2)}`),
    row('breaks first', (day) => shortages(day)),
  ];
}

/** Every budget that is overdrawn, the worst first, with how many times. */
export function shortages(day: Day): string {
  const loads = BUDGETS.map(([name, most, of]) => ({ name, load: of(day) / most })).filter(({ load }) => load > 1);
  if (loads.length === 0) return 'nothing';
  return loads
    .toSorted((a, b) => b.load - a.load)
    .map(({ name, load }) => `${name} ${load.toFixed(1)}×`)
    .join(', ');
}
