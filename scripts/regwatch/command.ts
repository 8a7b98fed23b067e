import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Static } from 'typebox';
import { UsageError, usageLine } from '../../node/config/command-line.ts';
import { IngestAnswerShape, ItemsAnswerShape, RegwatchStateShape } from '../../node/operator/regwatch-forms.ts';
import { parseJson } from '../../protocol/json/parse.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../protocol/json/value.ts';
import { askAll, type Outcome } from '../key/ask.ts';
import { findTargets, type Target } from '../key/targets.ts';
import { type Command, readArguments, type SourceFlags, USAGE } from './arguments.ts';

/** 0 done on every node · 1 not on every node · 2 wrong usage, or no cluster. */
export type RegwatchExit = 0 | 1 | 2;

export interface Terminal {
  out(line: string): void;
  err(line: string): void;
}

/** What one node answered, and the same in lines for people. */
interface Told {
  readonly answer: JsonObject;
  readonly lines: readonly string[];
}

const NONE = '–';

/** The `regwatch` command: the regulatory feed of running nodes. */
export async function regwatchCommand(args: readonly string[], terminal: Terminal): Promise<RegwatchExit> {
  try {
    const asked = readArguments(args);
    if (asked === null) {
      terminal.out(USAGE);
      return 0;
    }
    const targets = await findTargets(asked.home, asked.nodes);
    const outcomes = await run(asked.command, targets);
    if (asked.json) {
      const nodes = outcomes.map((one) => (one.ok ? { ...one, answer: one.answer.answer } : one));
      terminal.out(JSON.stringify({ command: asked.command.name, nodes }));
    } else for (const line of linesOf(outcomes)) terminal.out(line);
    for (const outcome of outcomes) if (!outcome.ok) terminal.err(`regwatch: ${outcome.node}: ${outcome.error}`);
    return outcomes.every(({ ok }) => ok) ? 0 : 1;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    terminal.err(usageLine(error, 'regwatch'));
    return 2;
  }
}

async function run(command: Command, targets: readonly Target[]): Promise<readonly Outcome<Told>[]> {
  switch (command.name) {
    case 'status': {
      const question = { method: 'GET', path: '/regwatch', answer: RegwatchStateShape } as const;
      return told(await askAll(targets, question), stateLines);
    }
    case 'add': {
      const value = await readJsonFile(command.file);
      const body = { items: isJsonArray(value) ? value : [value] };
      const question = { method: 'POST', path: '/regwatch/items', body, answer: ItemsAnswerShape } as const;
      return told(await askAll(targets, question), itemLines);
    }
    case 'correct': {
      const body = await readJsonFile(command.file);
      if (!isJsonObject(body)) throw new UsageError(`${command.file} holds no JSON object`);
      const path = `/regwatch/items/${command.item}`;
      return told(await askAll(targets, { method: 'POST', path, body, answer: ItemsAnswerShape }), itemLines);
    }
    case 'ingest': {
      const body = { file: resolve(command.file), source: sourceBody(command.source) };
      const question = { method: 'POST', path: '/regwatch/ingest', body, answer: IngestAnswerShape } as const;
      return told(await askAll(targets, question), ingestLines);
    }
  }
}

function told<Answer extends JsonObject>(
  outcomes: readonly Outcome<Answer>[],
  lines: (answer: Answer) => readonly string[],
): readonly Outcome<Told>[] {
  return outcomes.map((one) => (one.ok ? { ...one, answer: { answer: one.answer, lines: lines(one.answer) } } : one));
}

function linesOf(outcomes: readonly Outcome<Told>[]): readonly string[] {
  return outcomes.flatMap((one) => (one.ok ? one.answer.lines.map((line) => `${one.node}  ${line}`) : []));
}

function stateLines({ sources, newest }: Static<typeof RegwatchStateShape>): readonly string[] {
  return [
    ...(sources.length === 0 ? ['no sources are configured (REGWATCH_SOURCES)'] : []),
    ...sources.map(({ id, succeededAt, nextAt, failures, error }) => {
      const trouble = error === null ? '' : `  failed ${failures}×: ${error}`;
      return `${id}  read ${succeededAt ?? NONE}  next ${nextAt ?? NONE}${trouble}`;
    }),
    ...newest.map(
      ({ itemId, ingestedAt, title, sample }) => `${itemId}  ${ingestedAt}  ${sample ? '[sample] ' : ''}${title}`,
    ),
  ];
}

function itemLines({ items }: Static<typeof ItemsAnswerShape>): readonly string[] {
  return items.map(({ itemId, outcome, attestationId }) => `${itemId}  ${outcome}  ${attestationId}`);
}

function ingestLines({ added, changed, unchanged, skipped }: Static<typeof IngestAnswerShape>): readonly string[] {
  return [`${added} added, ${changed} changed, ${unchanged} as before, ${skipped} skipped`];
}

function sourceBody({ jurisdictions, frameworks, ...rest }: SourceFlags): JsonObject {
  return {
    ...rest,
    ...(jurisdictions === undefined ? {} : { jurisdictions }),
    ...(frameworks === undefined ? {} : { frameworks }),
  };
}

async function readJsonFile(file: string): Promise<JsonValue> {
  try {
    return parseJson(await readFile(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`${file}: ${error instanceof Error ? error.message : 'cannot be read'}`);
  }
}
