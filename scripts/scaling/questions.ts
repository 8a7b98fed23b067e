import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { Closed, CountShape } from '../../protocol/shapes.ts';

/** What the simulation asks a process of its members. */
const QuestionShape = Type.Union([
  /** Opens and starts members, each from the variables that a node process reads. */
  Closed({
    ask: Type.Literal('start'),
    members: Type.Array(Type.Record(Type.String(), Type.String())),
    peerPorts: Type.Array(CountShape),
  }),
  /** One member makes records and seals them. */
  Closed({ ask: Type.Literal('seal'), node: Type.String(), records: CountShape }),
  Closed({ ask: Type.Literal('state') }),
  /** What one member's store holds. */
  Closed({ ask: Type.Literal('tables'), node: Type.String() }),
  /** One member stops, loses its store, and starts again. */
  Closed({ ask: Type.Literal('empty'), node: Type.String() }),
]);
export type Question = Static<typeof QuestionShape>;

/** Sums over the members of one process. */
const StateShape = Closed({
  /** Other members connected. */
  connections: CountShape,
  /** Batches held, own and others'. */
  batches: CountShape,
  /** Batches vouched for, own and others'. */
  vouched: CountShape,
  /** Own batches that the ledger has not confirmed yet. */
  unconfirmed: CountShape,
  /** Bytes between members. */
  received: CountShape,
  sent: CountShape,
  /** Of the process, all of its threads, in microseconds. */
  cpu: CountShape,
  /** Resident memory, in bytes. */
  memory: CountShape,
});
export type State = Static<typeof StateShape>;

const TablesShape = Type.Array(Closed({ table: Type.String(), rows: CountShape, bytes: CountShape }));
export type Tables = Static<typeof TablesShape>;

const question = Compile(QuestionShape);
const state = Compile(StateShape);
const tables = Compile(TablesShape);

/** The parsers throw `TypeError`: both ends are ours. */
export function parseQuestion(value: unknown): Question {
  if (!question.Check(value)) throw new TypeError('a question of no known form');
  return value;
}

export function parseState(value: unknown): State {
  if (!state.Check(value)) throw new TypeError('a state of no known form');
  return value;
}

export function parseTables(value: unknown): Tables {
  if (!tables.Check(value)) throw new TypeError('tables of no known form');
  return value;
}
