import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeBase64url, utf8 } from '../../protocol/bytes.ts';
import { entityId } from '../../protocol/ids.ts';
import { parseRosterFile, rosterFileValue } from '../../protocol/keys/roster-file.ts';
import { RosterChain } from '../../protocol/keys/roster-chain.ts';
import type { SignedRoster } from '../../protocol/keys/signed-roster.ts';
import { DEFAULT_REVOCATION_REACH, type Roster, rosterStatement } from '../../protocol/log/roster.ts';
import { encodeSignature } from '../../protocol/statement/statement.ts';
import type { Signer } from '../../protocol/suite/suite.ts';
import { timestampOf } from '../../protocol/time.ts';
import { peerIdOfSeed } from '../../node/transport/identity.ts';
import { replaceDurably } from '../../node/keys/durable-file.ts';
import {
  createKeyFile,
  KEY_FILE_PURPOSES,
  type KeyFilePurpose,
  keyFilePath,
  readKeyFile,
} from '../../node/keys/key-file.ts';
import { nativeSigner, nativeSuite } from '../../node/keys/native-suite.ts';
import { LEDGER_NAME } from '../ledger/network-name.ts';
import { type Plan, type PlannedNode, QUORUM } from '../plan.ts';

const FEDERATION_NAME = 'meridian-local';
export const ROSTER_FILE = 'roster.json';
const ROSTER_MODE = 0o644;

export function keyDirectory(home: string, node: PlannedNode): string {
  return join(home, node.id, 'keys');
}

/** Gives every node the keys that it has not got yet: the local cluster plays all five operators. */
export async function ensureKeys(home: string, plan: Plan): Promise<void> {
  for (const node of plan.nodes) {
    const directory = keyDirectory(home, node);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    for (const purpose of KEY_FILE_PURPOSES) await ensureKey(directory, purpose);
  }
}

/**
 * Writes the genesis roster, signed by all members, unless there is one. It names the ledger topic of the federation.
 */
export async function ensureRoster(home: string, plan: Plan, createTopic: () => Promise<string>): Promise<string> {
  const file = join(home, ROSTER_FILE);
  if (existsSync(file)) return file;
  const identities = await Promise.all(
    plan.nodes.map(async (node) => ({
      node,
      signer: nativeSigner(await readKeyFile(keyDirectory(home, node), 'identity')),
      peerId: await peerIdOfSeed(await readKeyFile(keyDirectory(home, node), 'peer')),
    })),
  );
  const roster: Roster = {
    v: 2,
    type: 'roster',
    name: FEDERATION_NAME,
    version: 1,
    previous: null,
    quorum: Math.min(QUORUM, plan.nodes.length - 1),
    members: identities.map(({ node, signer, peerId }) => ({
      node: node.id,
      region: node.region,
      baseUrl: node.baseUrl,
      peerId,
      multiaddrs: [node.peerAddress],
      accounts: [entityId(node.operatorId)],
      identityKey: encodeSignature(signer.publicKey),
    })),
    ledger: { network: LEDGER_NAME, topicId: entityId(await createTopic()) },
    revocationReach: DEFAULT_REVOCATION_REACH,
    issuedAt: timestampOf(Date.now()),
  };
  const signed = await signRoster(
    roster,
    identities.map(({ signer }) => signer),
  );
  await replaceDurably(
    file,
    `${JSON.stringify(rosterFileValue({ genesis: signed, later: [] }), null, 2)}\n`,
    ROSTER_MODE,
  );
  return file;
}

/** The newest roster of the file. */
export async function readRoster(file: string): Promise<Roster> {
  return RosterChain.open(nativeSuite, parseRosterFile(await readFile(file, 'utf8'))).current;
}

async function signRoster(roster: Roster, signers: readonly Signer[]): Promise<SignedRoster> {
  const statement = rosterStatement.write(roster);
  const signatures = await Promise.all(
    roster.members.map(async ({ node, identityKey }) => {
      const signer = signers.find((candidate) => encodeBase64url(candidate.publicKey) === identityKey);
      if (signer === undefined) throw new Error(`no identity key for ${node}`);
      return { node, signature: encodeSignature(await signer.sign(utf8(statement), rosterStatement.context)) };
    }),
  );
  return { statement, signatures };
}

async function ensureKey(directory: string, purpose: KeyFilePurpose): Promise<void> {
  if (!existsSync(keyFilePath(directory, purpose))) await createKeyFile(directory, purpose);
}
