import { CheckpointBook, readCheckpoint } from '../../node/log/checkpoint-book.ts';
import { FederationLog } from '../../node/log/federation-log.ts';
import { openKeys } from '../fixtures/federation-keys.ts';
import { takeFinal } from '../../node/log/take-final.ts';
import { LogKnowledge } from '../../node/verification/log-knowledge.ts';
import type { SignedRoster } from '../../protocol/keys/signed-roster.ts';
import { rosterStatement } from '../../protocol/log/roster.ts';
import { signStatement } from '../../protocol/statement/statement.ts';
import { serveJudgingNode } from '../fixtures/judging-node.ts';
import { LogStore } from '../node/log/log-store.ts';
import type { Corpus } from './corpus.ts';
import { type Answer, answerOf, type Judge, UNREADABLE } from './judge.ts';

/** Bundles that are brought to the node at once. */
const AT_ONCE = 4;
const MALFORMED = 400;

/**
 * A node of the generated federation: it has read the whole topic and counted the newest checkpoint of every member, and
 * answers `POST /v1/bundles/verify` by its own log, as any node does. Its pin is the genesis of that log.
 */
export async function nodeJudge(corpus: Corpus): Promise<Judge> {
  await using opening = new AsyncDisposableStack();
  const { store } = opening.use(await LogStore.open());
  const { home, ledger } = corpus;
  const federationLog = await FederationLog.open(store, home.roster(1).text);
  await takeFinal(federationLog, ledger.messages, {
    textOf: (hash) => home.rosters.find((roster) => roster.hash === hash)?.text,
    onAdvance: async () => {},
  });
  const keys = await openKeys(store, { genesis: await signedGenesis(corpus), later: [] });
  for (const certificate of home.certificates) await keys.learnCertificate(certificate);
  for (const { signed } of home.revocations) await keys.learnRevocation(signed);
  const checkpointBook = await CheckpointBook.open(store, federationLog);
  for (const signed of corpus.newest) {
    const outcome = await checkpointBook.learn(readCheckpoint(signed));
    if (outcome !== 'counted') throw new Error(`an honest checkpoint is ${outcome}`);
  }
  const node = opening.use(await serveJudgingNode(new LogKnowledge({ federationLog, checkpointBook, keys })));
  const running = opening.move();
  return {
    name: 'node',
    judge: (texts) => inTurn(texts, async (text) => answerIn(await node.verify(text))),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function signedGenesis({ home }: Corpus): Promise<SignedRoster> {
  const { roster, text: statement } = home.roster(1);
  const signatures: SignedRoster['signatures'] = [];
  for (const { node } of roster.members) {
    const { signature } = await signStatement(rosterStatement, roster, home.member(node).identity);
    signatures.push({ node, signature });
  }
  return { statement, signatures };
}

async function answerIn(response: Response): Promise<Answer> {
  const body = await response.json();
  if (response.status === MALFORMED) return UNREADABLE;
  if (response.status !== 200) return { ...UNREADABLE, word: `no answer: ${JSON.stringify(body)}` };
  const { verdict, problems, linked, status, agent, complianceStatus } = body;
  const { ledger, anchoredLate, ...told } = verdict;
  const said = { ...told, ledger: ledger && { ...ledger, isLate: anchoredLate }, status, agent };
  return answerOf({ ...said, evidence: { complianceStatus } }, problems, linked);
}

async function inTurn<Result>(texts: readonly string[], judge: (text: string) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  const entries = texts.entries();
  const work = async () => {
    for (const [i, text] of entries) results[i] = await judge(text);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}
