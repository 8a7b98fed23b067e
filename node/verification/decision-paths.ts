import { writeSha256 } from '../../protocol/hash.ts';
import { type Decision, decisionText } from '../../protocol/log/decision.ts';
import type { DecisionProof } from '../../protocol/verdict/bundle.ts';
import type { LogSources } from './log-knowledge.ts';

/** A decision, and how it walks to the root of each of the trees of these sizes that holds it. */
export async function placeDecision(
  log: Pick<LogSources['federationLog'], 'pathAt'>,
  decision: Decision,
  sizes: readonly number[],
): Promise<DecisionProof> {
  const covering = sizes.filter((size) => size > decision.index);
  const paths = await Promise.all(
    covering.map(async (size) => ({ size, path: (await log.pathAt(decision.index, size)).map(writeSha256) })),
  );
  return { text: decisionText.write(decision), paths };
}
