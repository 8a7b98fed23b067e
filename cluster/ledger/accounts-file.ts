import { readFile } from 'node:fs/promises';
import type { OpeningAccount } from './boot.ts';
import { parseEntityText } from './wire.ts';

const MEMBERS = ['account', 'ed25519', 'tinybars'];

/**
 * Reads the opening accounts: a JSON array of `{account:'0.0.n', ed25519:<64 hex digits>, tinybars:'<decimal>'}`.
 *
 * @throws Error naming the first entry that is anything else
 */
export async function readAccountsFile(file: string): Promise<OpeningAccount[]> {
  const entries: unknown = JSON.parse(await readFile(file, 'utf8'));
  if (!Array.isArray(entries)) throw new Error(`${file} must hold a JSON array of accounts`);
  return entries.map((entry: unknown, index) => {
    const account = accountOf(entry);
    if (!account) throw new Error(`${file}: entry ${index} is not {account, ed25519, tinybars}`);
    return account;
  });
}

function accountOf(entry: unknown): OpeningAccount | null {
  if (typeof entry !== 'object' || entry === null) return null;
  if (Object.keys(entry).some((name) => !MEMBERS.includes(name))) return null;
  const num = 'account' in entry && typeof entry.account === 'string' ? parseEntityText(entry.account) : null;
  const key = 'ed25519' in entry ? entry.ed25519 : null;
  const tinybars = 'tinybars' in entry ? entry.tinybars : null;
  if (num === null || typeof key !== 'string' || !/^[0-9a-f]{64}$/i.test(key)) return null;
  if (typeof tinybars !== 'string' || !/^\d{1,19}$/.test(tinybars)) return null;
  return { num, key: { ed25519: Buffer.from(key, 'hex') }, tinybars: BigInt(tinybars) };
}
