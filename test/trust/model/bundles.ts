import { type Sha256Hash, writeSha256 } from '../../../protocol/hash.ts';
import { decisionText } from '../../../protocol/log/decision.ts';
import { parseLedgerMessage } from '../../../protocol/log/message.ts';
import { type Bundle, BUNDLE_FORMAT, type DecisionProof } from '../../../protocol/verdict/bundle.ts';
import type { LogView } from '../../../protocol/verdict/known.ts';
import { envelopeHash, proofIn, type SealedBatch } from '../../fixtures/federation-log-batch.ts';
import type { ModelMember } from './member.ts';
import type { Setting } from './setting.ts';

/**
 * The bundle of a batch's record, as far as a member's own log and checkpoints go. Null where it has no decision of it.
 */
export async function bundleBy(setting: Setting, member: ModelMember, sealed: SealedBatch): Promise<Bundle | null> {
  const decision = await member.log.decisionOf(sealed.node, sealed.batch);
  if (decision === undefined) return null;
  const named = parseLedgerMessage(decision.message);
  if (named.type !== 'batch' || named.envelope !== envelopeHash(sealed)) return null;
  const checkpoints = member.checkpointStore.shown();
  const sizes = [...new Set(member.checkpointStore.all().map(({ checkpoint }) => checkpoint.size))];
  const rosters: Bundle['rosters'] = [];
  for (const { hash, index } of member.log.state.rosters) {
    const text = await member.log.rosterText(hash);
    if (text === undefined) throw new Error('a roster in force has a text');
    rosters.push({ text, decision: index === null ? null : await proofOf(member, index, sizes) });
  }
  return {
    format: BUNDLE_FORMAT,
    ...proofIn(sealed, 0),
    decision: await proofOf(member, decision.index, sizes),
    checkpoints: [...checkpoints],
    keys: [...setting.certificates],
    revocations: [],
    rosters,
  };
}

async function proofOf(member: ModelMember, index: number, sizes: readonly number[]): Promise<DecisionProof> {
  const text = await member.log.entry(index);
  if (text === undefined) throw new Error('a decision in the log has a text');
  const paths: DecisionProof['paths'] = [];
  for (const size of sizes) {
    if (size <= index || size > member.log.size) continue;
    paths.push({ size, path: (await member.log.pathAt(index, size)).map(writeSha256) });
  }
  return { text, paths };
}

/** What a member knows by its own log. */
export async function viewOf(setting: Setting, member: ModelMember): Promise<LogView> {
  const { log, checkpointStore } = member;
  const entries = await log.entries(0, log.size);
  const roots: Sha256Hash[] = [];
  for (let size = 0; size <= log.size; size++) roots.push(await log.rootAt(size));
  const decided = new Map<string, string>();
  for (const text of entries) {
    const named = parseLedgerMessage(decisionText.parse(text).message);
    if (named.type === 'batch') decided.set(`${named.node}/${named.batch}`, text);
  }
  const rosters: LogView['rosters'][number][] = [];
  for (const { hash, index } of log.state.rosters) {
    rosters.push({
      text: (await log.rosterText(hash)) ?? '',
      decision: index === null ? null : (entries[index] ?? null),
    });
  }
  return {
    rootAt: (size) => roots[size],
    decisionAt: (index) => entries[index],
    decidedBatch: (node, batch) => decided.get(`${node}/${batch}`),
    rosters,
    revocations: [],
    checkpoints: checkpointStore.all().map(({ checkpoint }) => ({
      checkpoint,
      identityKey: setting.makerOf(checkpoint.node).member.identityKey,
    })),
  };
}
