import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { isNodeAbsent, OperatorError, operatorRequest } from '../../node/operator/operator-client.ts';
import type { JsonObject } from '../../protocol/json/value.ts';
import type { Target } from './targets.ts';

/** What one node said: its answer, or why there is none. `taken`: it did what it was asked all the same. */
export type Outcome<Answer> =
  | { readonly node: string; readonly ok: true; readonly answer: Answer }
  | { readonly node: string; readonly ok: false; readonly error: string; readonly taken: boolean };

export interface Question<Shape extends TSchema> {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: JsonObject;
  readonly answer: Shape;
  /** Longest wait for it. Default: that of the operator's client. In milliseconds. */
  readonly answerMs?: number;
}

/** A node did what it was asked, and answered in a form that this release does not read. */
class UnreadAnswerError extends OperatorError {}

/** Puts the same question to every node at once. */
export function askAll<Shape extends TSchema>(
  targets: readonly Target[],
  question: Question<Shape>,
): Promise<Outcome<Static<Shape>>[]> {
  return Promise.all(targets.map((target) => outcomeOf(target, ask(target, question))));
}

/**
 * The answer of one node. Throws `OperatorError`, or the error of the connection; where the node did something and its
 * answer does not read, the error says both.
 */
export async function ask<Shape extends TSchema>(
  { socket }: Target,
  { method, path, body, answer, answerMs }: Question<Shape>,
): Promise<Static<Shape>> {
  const value: unknown = JSON.parse(await operatorRequest(socket, method, path, body, answerMs));
  if (Compile(answer).Check(value)) return value;
  if (method === 'POST') {
    const detail = 'the node took it, and its answer is of another version';
    throw new UnreadAnswerError(detail, null, detail);
  }
  throw new OperatorError('the node is of another version', null, 'the node is of another version');
}

/** How work with a node ended. */
export async function outcomeOf<Answer>({ node }: Target, work: Promise<Answer>): Promise<Outcome<Answer>> {
  try {
    return { node, ok: true, answer: await work };
  } catch (error) {
    return { node, ok: false, error: reasonOf(error), taken: error instanceof UnreadAnswerError };
  }
}

/** Why a node did not answer, for its operator. */
export function reasonOf(error: unknown): string {
  if (error instanceof OperatorError) return error.detail;
  if (isNodeAbsent(error)) return 'the node does not run';
  return error instanceof Error ? error.message : String(error);
}
