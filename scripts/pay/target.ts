import { readFile } from 'node:fs/promises';
import type { PrivateKeyAccount } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { readClusterEnvironment } from '../../cluster/environment.ts';
import { readClusterFile } from '../../cluster/supervisor/cluster-file.ts';
import { UsageError } from '../../node/config/command-line.ts';
import type { Arguments } from './arguments.ts';

/** Who is called, and who pays. */
export interface Target {
  /** Address of the node, without a slash at its end. */
  readonly baseUrl: string;
  readonly wallet: PrivateKeyAccount;
  /** Who may be paid; null: whomever the node names. */
  readonly payTo: string | null;
}

const PRIVATE_KEY = /^0x[0-9a-f]{64}$/i;

/** The node and wallet that were named, or those of the local cluster. Throws `UsageError`, which tells no key. */
export async function findTarget({ url, node: id, keyFile }: Arguments): Promise<Target> {
  const given = keyFile === null ? null : walletOf(await keyText(keyFile), keyFile);
  if (url !== null && given !== null) return { baseUrl: url, wallet: given, payTo: null };
  const { home } = readClusterEnvironment();
  const { nodes, demo, chain } = await readClusterFile(home).catch(() => {
    throw new UsageError(`there is no local cluster in ${home}; --url and --key name another node and a wallet`);
  });
  const node = nodes.find((one) => one.id === id);
  if (node === undefined) throw new UsageError(`the local cluster has no node ${id}`);
  if (chain === null) {
    throw new UsageError('the local cluster runs without a chain, as there is no anvil: nothing can be paid');
  }
  const wallet = given ?? walletOf(demo.wallet.privateKey, 'the demo wallet');
  return { baseUrl: node.baseUrl, wallet, payTo: chain.payTo };
}

async function keyText(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => {
    throw new UsageError(`--key: ${file} cannot be read`);
  });
  return text.trim();
}

function walletOf(key: string, what: string): PrivateKeyAccount {
  if (!PRIVATE_KEY.test(key)) throw new UsageError(`${what} holds no private key (0x and 64 hex digits)`);
  try {
    return privateKeyToAccount(`0x${key.slice(2)}`);
  } catch {
    throw new UsageError(`${what} holds no private key of the curve`);
  }
}
