import { envelopeStatement } from '../../protocol/chain/envelope.ts';
import { hashText, type Sha256Hash, writeSha256 } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { checkpointStatement } from '../../protocol/log/checkpoint.ts';
import { isRevoked } from '../../protocol/log/decision-state.ts';
import { parseLedgerMessage } from '../../protocol/log/message.ts';
import { majorityOf } from '../../protocol/log/roster.ts';
import type { ReadMessage } from '../../protocol/proof/charge.ts';
import { judgeProof } from '../../protocol/proof/judge-proof.ts';
import { type MisdeedProof, PROOF_FORMAT } from '../../protocol/proof/misdeed.ts';
import type { ProofWord } from '../../protocol/proof/proof-word.ts';
import type { Equivocation } from '../federation/equivocations.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { FederationLog } from '../log/federation-log.ts';
import type { KnownCheckpoint } from '../log/known-checkpoint.ts';
import type { LedgerName } from '../log/rival-name.ts';
import { type FederationProofSources, type Need, proveFederation } from './federation-proof.ts';
import { type LogKnowledge, logViewOf } from './log-knowledge.ts';
import { certificatesOf, type NodeKey } from './signing-keys.ts';

export interface MisdeedSources extends FederationProofSources {
  readonly federationLog: FederationProofSources['federationLog'] &
    Pick<FederationLog, 'consistencyAt' | 'decisionOf' | 'rivalOf'>;
  readonly knowledge: Pick<LogKnowledge, 'ask' | 'revocations' | 'rosters'>;
}

interface Named {
  readonly signed: Equivocation['first'];
  readonly key: NodeKey;
  readonly name: LedgerName;
}

/** What members did against the protocol, judged and shown by what this node has read of the ledger (protocol §8). */
export class Misdeeds {
  readonly #sources: MisdeedSources;

  constructor(sources: MisdeedSources) {
    this.#sources = sources;
  }

  /** What two envelopes of one number come to, whose signatures were checked. Throws `LogDamagedError`. */
  wordOf = async (pair: Equivocation): Promise<ProofWord> => {
    const keys = [keyOf(pair.first), keyOf(pair.second)];
    const { state } = this.#sources.federationLog;
    const named = await this.#named(pair);
    if (named === null) {
      return keys.some(({ node, keyId }) => isRevoked(state, node, keyId)) ? 'key-revoked' : 'two-signed';
    }
    // Why a key was revoked is not known without the text: then what it signed accuses nobody.
    for (const key of keys) if (await this.#lacksRevocation(key)) return 'key-revoked';
    const answers = await this.#sources.knowledge.ask({ places: [], sizes: [], batches: [] });
    const proof: MisdeedProof = {
      format: PROOF_FORMAT,
      misdeed: misdeedOf(named),
      checkpoints: [],
      keys: certificatesOf(this.#sources.keys, keys),
      revocations: [],
      rosters: answers.rosters.slice(0, 1).map(({ text }) => ({ text, decision: null })),
    };
    const read = new Map(named.map(({ name }): [string, ReadMessage] => [name.sequence, name]));
    const messageAt = (sequence: string) => read.get(sequence);
    return judgeProof(nativeSuite, proof, { log: logViewOf(answers), messageAt }).word;
  };

  /**
   * The file that proves it to others; null where the ledger does not name both envelopes. Throws `LogDamagedError`.
   */
  async proofOf(pair: Equivocation): Promise<MisdeedProof | null> {
    const named = await this.#named(pair);
    if (named === null) return null;
    const { statements } = await proveFederation(
      this.#sources,
      [],
      named.map(({ key }) => key),
    );
    return { format: PROOF_FORMAT, misdeed: misdeedOf(named), ...statements };
  }

  /**
   * The file that proves to others that a checkpoint is false, which this node's own tree contradicts; with no heads
   * against it where no majority has signed as large a tree yet. Throws `LogDamagedError`.
   */
  async falseCheckpoint({ checkpoint, signed }: KnownCheckpoint): Promise<MisdeedProof> {
    const { federationLog } = this.#sources;
    const { node, keyId, size } = checkpoint;
    const covers: Need['says'] = (other) => other.size >= size;
    const { statements } = await proveFederation(this.#sources, [], [{ node, keyId }], (roster) => [
      {
        members: roster.members.filter((member) => member.node !== node),
        count: majorityOf(roster),
        spare: 0,
        says: covers,
      },
    ]);
    const heads = new Map<number, Sha256Hash>();
    for (const { text } of statements.checkpoints) {
      const other = checkpointStatement.parse(text);
      if (covers(other)) heads.set(other.size, other.root);
    }
    const beginning = await federationLog.rootAt(size);
    const against = [...heads].map(async ([larger, root]) => {
      const path = (await federationLog.consistencyAt(size, larger)).map(writeSha256);
      return { size: larger, root, difference: { type: 'beginning' as const, root: beginning, path } };
    });
    const misdeed = { type: 'false-checkpoint' as const, checkpoint: signed, against: await Promise.all(against) };
    return { format: PROOF_FORMAT, misdeed, ...statements };
  }

  /** Both envelopes with the messages that name them; null where the ledger was not read to name both. */
  async #named(pair: Equivocation): Promise<readonly [Named, Named] | null> {
    const [first, second] = [await this.#nameOf(pair.first), await this.#nameOf(pair.second)];
    return first === null || second === null ? null : [first, second];
  }

  async #nameOf(signed: Equivocation['first']): Promise<Named | null> {
    const { federationLog } = this.#sources;
    const { node, batch } = envelopeStatement.parse(signed.statement);
    const hash = hashText(nativeSuite, signed.statement);
    const names = [await federationLog.decisionOf(node, batch), await federationLog.rivalOf(node, batch)];
    const name = names.find((each) => each !== undefined && envelopeNamed(each.message) === hash);
    return name === undefined ? null : { signed, key: keyOf(signed), name };
  }

  async #lacksRevocation({ node, keyId }: NodeKey): Promise<boolean> {
    const { federationLog, knowledge } = this.#sources;
    const decided = federationLog.state.revoked[node]?.[keyId]?.length ?? 0;
    if (decided === 0) return false;
    const known = (await knowledge.revocations()).filter(({ revocation }) => {
      return revocation.node === node && revocation.keyId === keyId;
    });
    return known.length < decided;
  }
}

function envelopeNamed(message: string): Sha256Hash | null {
  const named = parseLedgerMessage(message);
  return named.type === 'batch' ? named.envelope : null;
}

function misdeedOf([first, second]: readonly [Named, Named]): MisdeedProof['misdeed'] {
  return {
    type: 'two-envelopes',
    first: { ...first.signed, sequence: first.name.sequence },
    second: { ...second.signed, sequence: second.name.sequence },
  };
}

function keyOf({ statement }: Equivocation['first']): NodeKey & { readonly node: NodeId } {
  const { node, keyId } = envelopeStatement.parse(statement);
  return { node, keyId };
}
