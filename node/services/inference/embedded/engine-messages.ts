import Type, { type Static } from 'typebox';
import { Compile } from '../../../../protocol/shape-check.ts';
import { CompletionShape } from '../../../../protocol/api/attested-inference.ts';
import { Closed, CountShape, OrNull } from '../../../../protocol/shapes.ts';
import type { Prompt } from '../engine.ts';

/** What the engine's process is to load. */
export interface ModelSetting {
  readonly path: string;
  readonly contextTokens: number;
  readonly threads: number;
}

/** From the node to the process of the engine. */
export type ToEngine =
  | { readonly type: 'load'; readonly model: ModelSetting }
  | { readonly type: 'complete'; readonly call: number; readonly prompt: Prompt }
  | { readonly type: 'cancel'; readonly call: number };

const LoadedShape = Closed({
  type: Type.Literal('loaded'),
  /** As the file names it; null where it does not. */
  name: OrNull(Type.String()),
  /** Exact versions of what runs it. */
  runtime: Type.String(),
});
const CompletedShape = Closed({
  type: Type.Literal('completed'),
  call: CountShape,
  content: Type.String(),
  finishReason: CompletionShape.properties.choices.items.properties.finishReason,
  promptTokens: CountShape,
  completionTokens: CountShape,
  parameters: CompletionShape.properties.parameters,
});
const TooLongShape = Closed({
  type: Type.Literal('too-long'),
  call: CountShape,
  promptTokens: CountShape,
  contextTokens: CountShape,
});
const CancelledShape = Closed({ type: Type.Literal('cancelled'), call: CountShape });
const FailedShape = Closed({ type: Type.Literal('failed'), call: CountShape, reason: Type.String() });
const LoadFailedShape = Closed({ type: Type.Literal('load-failed'), reason: Type.String() });

const FromEngineShape = Type.Union([
  LoadedShape,
  LoadFailedShape,
  CompletedShape,
  TooLongShape,
  CancelledShape,
  FailedShape,
]);

/** From the process of the engine to the node. */
export type FromEngine = Static<typeof FromEngineShape>;
export type Loaded = Static<typeof LoadedShape>;
export type Completed = Static<typeof CompletedShape>;
export type TooLong = Static<typeof TooLongShape>;
/** What ends a call. */
export type CallEnd = Extract<FromEngine, { readonly call: number }>;

const compiled = Compile(FromEngineShape);

/**
 * A message of the engine's process, which lives through whatever native code does in it. Undefined where it is none.
 */
export function readFromEngine(message: unknown): FromEngine | undefined {
  return compiled.Check(message) ? message : undefined;
}
