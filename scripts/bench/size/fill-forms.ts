import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { Closed, CountShape } from '../../../protocol/shapes.ts';

/** What the bench asks of the process that fills a node's store. */
const FillQuestionShape = Type.Union([
  /**
   * Opens and starts the node, from the variables that a node process reads; the key is of the account that the records
   * are of.
   */
  Closed({ ask: Type.Literal('start'), variables: Type.Record(Type.String(), Type.String()), apiKey: Type.String() }),
  /** Makes so many more records, and gives back some of them. */
  Closed({ ask: Type.Literal('fill'), records: CountShape, samples: CountShape }),
]);
export type FillQuestion = Static<typeof FillQuestionShape>;

/** One of the records that were made. */
const SampleShape = Closed({ id: Type.String(), sourceId: Type.String(), submittedAt: Type.String() });
export type Sample = Static<typeof SampleShape>;

const FillAnswerShape = Closed({
  /** All that the node has made. */
  recorded: CountShape,
  /** Of those that were made now, from all over them and in their order. */
  samples: Type.Array(SampleShape),
});
export type FillAnswer = Static<typeof FillAnswerShape>;

const question = Compile(FillQuestionShape);
const answer = Compile(FillAnswerShape);

/** The parsers throw `TypeError`: both ends are ours. */
export function parseFillQuestion(value: unknown): FillQuestion {
  if (!question.Check(value)) throw new TypeError('a question of no known form');
  return value;
}

export function parseFillAnswer(value: unknown): FillAnswer {
  if (!answer.Check(value)) throw new TypeError('an answer of no known form');
  return value;
}
