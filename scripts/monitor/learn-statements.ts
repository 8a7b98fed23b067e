import type { StatementWatch } from './statement-watch.ts';
import type { PublicNode } from '../../node/federation/public-node.ts';
import type { WatchedNodes } from './watched-nodes.ts';

/** Pages of one node's keys in one round at most. */
const MAX_PAGES = 16;

/**
 * Learns certificates and revocations from one node a round, another one each time: from all of them where a signature
 * was by an unknown key, or the log put a revocation in force whose text is not known.
 */
export async function learnStatements(statements: StatementWatch, nodes: WatchedNodes): Promise<void> {
  const lacksText = statements.revocationsInForce().some(({ shown }) => shown === undefined);
  const lacks = statements.takeLackOfKeys() || lacksText;
  for (const { node } of lacks ? nodes.answering : nodes.answering.slice(0, 1)) {
    await learnFrom(statements, nodes, node);
  }
}

async function learnFrom(statements: StatementWatch, nodes: WatchedNodes, node: PublicNode): Promise<void> {
  await nodes.ask(node, async () => {
    let cursor: string | null = null;
    for (let page = 0; page < MAX_PAGES; page++) {
      const answer: Awaited<ReturnType<typeof node.signingKeys>> = await node.signingKeys(cursor);
      for (const signed of answer.certificates) {
        if (!statements.learnCertificate(signed)) nodes.lies(node, 'a key certificate that does not hold');
      }
      for (const signed of answer.revocations) {
        if (!statements.learnRevocation(signed)) nodes.lies(node, 'a revocation that does not hold');
      }
      cursor = answer.nextCursor;
      if (cursor === null) return;
    }
  });
}
