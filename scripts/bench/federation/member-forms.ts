import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { Closed, CountShape, NodeIdShape } from '../../../protocol/shapes.ts';

/** What the bench asks of a process that is one member. */
const MemberQuestionShape = Type.Union([
  /** Opens and starts the node, from the variables that a node process reads. */
  Closed({ ask: Type.Literal('start'), variables: Type.Record(Type.String(), Type.String()) }),
  /** Makes so many records, in sealed batches. */
  Closed({ ask: Type.Literal('fill'), records: CountShape }),
  /** Waits until it holds a node's chain up to a batch; its first connection to that node begins it. */
  Closed({ ask: Type.Literal('pull'), from: NodeIdShape, batch: CountShape }),
  /** What it has taken of the processor since it was last asked for anything. */
  Closed({ ask: Type.Literal('spent') }),
]);
export type MemberQuestion = Static<typeof MemberQuestionShape>;

/** Processor time in microseconds: of the main thread, and of all threads. */
const MemberAnswerShape = Closed({
  /** Of pulling, in milliseconds; of anything else 0. */
  took: Type.Number({ minimum: 0 }),
  main: Type.Number({ minimum: 0 }),
  all: Type.Number({ minimum: 0 }),
  /** Its own chain, and the groups that it signed. */
  batch: CountShape,
  groups: CountShape,
});
export type MemberAnswer = Static<typeof MemberAnswerShape>;

const question = Compile(MemberQuestionShape);
const answer = Compile(MemberAnswerShape);

/** The parsers throw `TypeError`: both ends are ours. */
export function parseMemberQuestion(value: unknown): MemberQuestion {
  if (!question.Check(value)) throw new TypeError('a question of no known form');
  return value;
}

export function parseMemberAnswer(value: unknown): MemberAnswer {
  if (!answer.Check(value)) throw new TypeError('an answer of no known form');
  return value;
}
