import { serveJudgingNode } from '../fixtures/judging-node.ts';
import { openNodeLog } from '../fixtures/node-log.ts';
import type { Corpus } from './corpus.ts';
import { type Answer, answerOf, type Judge, UNREADABLE } from './judge.ts';

/** Bundles that are brought to the node at once. */
const AT_ONCE = 4;
const MALFORMED = 400;

/**
 * A node of the generated federation: it has read the whole topic and counted the newest checkpoint of every member,
 * and answers `POST /v1/bundles/verify` by its own log, as any node does. Its pin is the genesis of that log.
 */
export async function nodeJudge({ ledger, newest }: Corpus): Promise<Judge> {
  await using opening = new AsyncDisposableStack();
  const { knowledge } = opening.use(await openNodeLog(ledger, newest));
  const node = opening.use(await serveJudgingNode(knowledge));
  const running = opening.move();
  return {
    name: 'node',
    judge: (texts) => sequentially(texts, async (text) => answerIn(await node.verify(text))),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function answerIn(response: Response): Promise<Answer> {
  const body = await response.json();
  if (response.status === MALFORMED) return UNREADABLE;
  if (response.status !== 200) return { ...UNREADABLE, word: `no answer: ${JSON.stringify(body)}` };
  const { verdict, problems, linked, status, agent, complianceStatus, evidence, speaks, accountStatements } = body;
  const { ledger, anchoredLate, ...told } = verdict;
  const said = {
    ...told,
    ledger: ledger && { ...ledger, isLate: anchoredLate },
    status,
    agent,
    speaks,
    accountStatements,
  };
  return answerOf({ ...said, evidence: { complianceStatus, evidence } }, problems, linked);
}

async function sequentially<Result>(
  texts: readonly string[],
  judge: (text: string) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const entries = texts.entries();
  const work = async () => {
    for (const [i, text] of entries) results[i] = await judge(text);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}
