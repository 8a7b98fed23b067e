import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { decodeHex, encodeHex } from '../../protocol/bytes.ts';

/** 100,000 hbar each: over a hundred million anchors. In tinybars. */
const OPENING_TINYBARS = '10000000000000';
const PKCS8_HEADER = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI_HEADER_BYTES = 12;

const OperatorsShape = Type.Record(Type.String(), Type.String({ pattern: '^[0-9a-f]{64}$' }));
/** Operator account → its private key, a 32-byte Ed25519 seed in hex. Development money. */
export type Operators = Static<typeof OperatorsShape>;
const compiled = Compile(OperatorsShape);

/** Keys of the accounts that pay for anchors, made at the first start, and the file that the ledger opens them from. */
export async function ensureLedgerAccounts(
  home: string,
  operatorIds: readonly string[],
): Promise<{ readonly operators: Operators; readonly accountsFile: string }> {
  const directory = join(home, 'ledger');
  const operatorsFile = join(directory, 'operators.json');
  const accountsFile = join(directory, 'accounts.json');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if (!existsSync(operatorsFile)) {
    const operators = Object.fromEntries(operatorIds.map((account) => [account, encodeHex(randomBytes(32))]));
    await writeWhole(accountsFile, Object.entries(operators).map(openingAccount));
    await writeWhole(operatorsFile, operators);
  }
  const operators: unknown = JSON.parse(await readFile(operatorsFile, 'utf8'));
  if (!compiled.Check(operators)) throw new Error(`${operatorsFile} is damaged`);
  return { operators, accountsFile };
}

function openingAccount([account, seed]: [account: string, seed: string]) {
  return { account, ed25519: encodeHex(ed25519PublicKey(decodeHex(seed))), tinybars: OPENING_TINYBARS };
}

function ed25519PublicKey(seed: Uint8Array): Uint8Array {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_HEADER, seed]), format: 'der', type: 'pkcs8' });
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(SPKI_HEADER_BYTES);
}

async function writeWhole(file: string, content: unknown): Promise<void> {
  await writeFile(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}
