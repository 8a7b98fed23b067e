import { join } from 'node:path';
import { UsageError } from '../../node/config/command-line.ts';
import { readKeyFile } from '../../node/keys/key-file.ts';
import { nativeSigner } from '../../node/keys/native-suite.ts';
import { utf8 } from '../../protocol/bytes.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { SignedRoster } from '../../protocol/keys/signed-roster.ts';
import { RosterError } from '../../protocol/log/roster-error.ts';
import { type Roster, rosterStatement } from '../../protocol/log/roster.ts';
import { encodeSignature } from '../../protocol/statement/statement.ts';
import { homePassphrase } from '../node-key/home-passphrase.ts';

type Founder = SignedRoster['signatures'][number];

/** Signs a genesis roster with the identity key in a home. Throws `RosterError` where it does not name that node. */
export async function signatureOfHome(home: string, statement: string, founding: Roster): Promise<Founder> {
  const signer = nativeSigner(await readKeyFile(join(home, 'keys'), 'identity', await homePassphrase()));
  const identityKey = encodeSignature(signer.publicKey);
  const member = founding.members.find((candidate) => candidate.identityKey === identityKey);
  if (member === undefined) throw new RosterError('too-few-signatures', `the roster does not name the node of ${home}`);
  const signature = encodeSignature(await signer.sign(utf8(statement), rosterStatement.context));
  return { node: member.node, signature };
}

/** One proposal with the signatures of all copies, each member's once. Throws `UsageError`. */
export function joined(proposals: readonly SignedRoster[]): SignedRoster {
  const [first, ...others] = proposals;
  if (first === undefined) throw new UsageError('name a proposal');
  if (others.some(({ statement }) => statement !== first.statement)) {
    throw new UsageError('the files are proposals of different rosters');
  }
  const founders = new Map<NodeId, Founder>();
  for (const each of proposals.flatMap(({ signatures }) => signatures)) founders.set(each.node, each);
  return { statement: first.statement, signatures: [...founders.values()] };
}
