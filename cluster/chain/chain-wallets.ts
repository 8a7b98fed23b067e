import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';

const PRIVATE_KEY = '^0x[0-9a-f]{64}$';

const PrivateKeyShape = Type.Unsafe<Hex>(Type.String({ pattern: PRIVATE_KEY }));

const WalletsShape = Type.Object(
  {
    minter: PrivateKeyShape,
    payTo: PrivateKeyShape,
    demo: PrivateKeyShape,
    facilitators: Type.Record(Type.String(), PrivateKeyShape),
  },
  { additionalProperties: false },
);

/**
 * Private keys of the local chain's accounts. Development money, yet of this home alone: nobody knows them by heart.
 */
export interface ChainWallets {
  /** Owner of the token: it can make any amount of it. */
  readonly minter: Hex;
  /** Receives what callers pay. */
  readonly payTo: Hex;
  /** Pays, in demonstrations. */
  readonly demo: Hex;
  /**
   * Node id → account that settles its payments. Each has its own: two senders on one account get in each other's way.
   */
  readonly facilitators: Readonly<Record<string, Hex>>;
}

const compiled = Compile(WalletsShape);

/** New keys; one facilitator a name. */
export function newChainWallets(facilitators: readonly string[]): ChainWallets {
  return {
    minter: generatePrivateKey(),
    payTo: generatePrivateKey(),
    demo: generatePrivateKey(),
    facilitators: Object.fromEntries(facilitators.map((name) => [name, generatePrivateKey()])),
  };
}

/** The keys of a chain's folder, made at the first start. */
export async function ensureChainWallets(directory: string, facilitators: readonly string[]): Promise<ChainWallets> {
  const file = walletsFile(directory);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if (!existsSync(file)) {
    const text = `${JSON.stringify(newChainWallets(facilitators), null, 2)}\n`;
    await writeFile(`${file}.new`, text, { mode: 0o600 });
    await rename(`${file}.new`, file);
  }
  return readChainWallets(directory);
}

/** Throws where the folder has none. */
export async function readChainWallets(directory: string): Promise<ChainWallets> {
  const file = walletsFile(directory);
  const wallets: unknown = JSON.parse(await readFile(file, 'utf8'));
  if (!compiled.Check(wallets)) throw new Error(`${file} is damaged`);
  return wallets;
}

export function addressOfKey(key: Hex): Hex {
  return privateKeyToAddress(key);
}

function walletsFile(directory: string): string {
  return join(directory, 'wallets.json');
}
