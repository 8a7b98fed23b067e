import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Hex, parseUnits } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { addressOfKey, type ChainWallets, newChainWallets } from '../../../cluster/chain/chain-wallets.ts';
import { type LocalChain, startLocalChain } from '../../../cluster/chain/local-chain.ts';
import { mintUsdc } from '../../../cluster/chain/usdc-genesis.ts';
import { usdcAbi } from '../../../node/payments/facilitator/usdc-abi.ts';
import { USDC } from '../../../protocol/payments/usdc.ts';
import { Forked } from '../forked.ts';
import { freePlan } from '../free-plan.ts';
import { isPayerAnswer, type PayerAnswer } from './payer-forms.ts';
import { isSellerState, sellerTerms, type SellerSetup, type SellerState } from './seller-forms.ts';

const SELLERS = ['gate', 'stock'] as const;
export type SellerName = (typeof SELLERS)[number];

/** A wallet may pay for 600 calls a minute, and have 200 under way. */
const WALLETS = 20;
const OPENING_USD = '100';

/** A seller's process, and where it sells. */
export interface Seller extends AsyncDisposable {
  readonly name: SellerName;
  readonly port: number;
  /** Account that its payments go to. */
  readonly payTo: Hex;
  /** How the process has done since it was last asked. */
  state(): Promise<SellerState>;
}

/** A round of calls at one seller. */
export interface Round {
  readonly seller: Seller;
  readonly path: string;
  readonly calls: number;
  readonly together: number;
}

/** A local chain with Circle's own USDC, wallets that pay, and sellers in processes of their own. */
export class Market implements AsyncDisposable {
  readonly #home: string;
  readonly #chain: LocalChain;
  readonly #wallets: ChainWallets;
  readonly #payers: readonly Hex[];
  readonly #payer: Forked;
  readonly #parts: AsyncDisposableStack;

  private constructor(home: string, chain: LocalChain, wallets: ChainWallets, payers: readonly Hex[], payer: Forked) {
    this.#home = home;
    this.#chain = chain;
    this.#wallets = wallets;
    this.#payers = payers;
    this.#payer = payer;
    this.#parts = new AsyncDisposableStack();
    this.#parts.use(chain);
    this.#parts.use(payer);
  }

  /** `blockSeconds`: between two blocks; null mines each transaction at once. */
  static async open(home: string, blockSeconds: number | null): Promise<Market> {
    const { chainPort } = await freePlan(1);
    const wallets = newChainWallets(SELLERS);
    await using opening = new AsyncDisposableStack();
    const chain = opening.use(await startLocalChain({ port: chainPort, directory: null, wallets }));
    const payers = Array.from({ length: WALLETS }, () => generatePrivateKey());
    const usdc = parseUnits(OPENING_USD, USDC.decimals);
    for (const key of payers) await mintUsdc(chain.client, wallets.minter, privateKeyToAddress(key), usdc);
    if (blockSeconds !== null) await chain.client.setIntervalMining({ interval: blockSeconds });
    const payer = opening.use(new Forked(join(import.meta.dirname, 'payer.ts')));
    opening.move();
    return new Market(home, chain, wallets, payers, payer);
  }

  /** Ends with the market. Each is paid to an account of its own. */
  async openSeller(name: SellerName): Promise<Seller> {
    const forked = this.#parts.use(new Forked(join(import.meta.dirname, `${name}-seller.ts`)));
    const directory = join(this.#home, name);
    await mkdir(directory, { recursive: true });
    const key = this.#wallets.facilitators[name];
    if (key === undefined) throw new RangeError(`nobody settles for ${name}`);
    const payTo = addressOfKey(generatePrivateKey());
    const setup: SellerSetup = { rpcUrl: this.#chain.rpcUrl, payTo, key, directory };
    const port = portOf(await forked.ask(setup));
    return {
      name,
      port,
      payTo,
      state: async () => {
        const state = await forked.ask({});
        if (!isSellerState(state)) throw new Error(`${name} answered something else`);
        return state;
      },
      [Symbol.asyncDispose]: () => forked[Symbol.asyncDispose](),
    };
  }

  /** Throws where all was answered, and the seller did not get exactly the prices. */
  async round({ seller, path, calls, together }: Round): Promise<PayerAnswer> {
    const { payTo, port } = seller;
    const before = await this.#balance(payTo);
    const answer = await this.#payer.ask({ port, path, payTo, wallets: this.#payers, calls, together });
    if (!isPayerAnswer(answer)) throw new Error('the payer answered something else');
    const earned = (await this.#balance(payTo)) - before;
    const due = BigInt(sellerTerms(payTo).amount) * BigInt(answer.answers);
    const isSettled = Object.keys(answer.failed).length === 0;
    if (isSettled && earned !== due) throw new Error(`${seller.name} earned ${earned} and not ${due}`);
    return answer;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parts.disposeAsync();
  }

  #balance(address: Hex): Promise<bigint> {
    const { client } = this.#chain;
    return client.readContract({ address: USDC.asset, abi: usdcAbi, functionName: 'balanceOf', args: [address] });
  }
}

function portOf(answer: unknown): number {
  if (typeof answer === 'object' && answer !== null && 'port' in answer && typeof answer.port === 'number') {
    return answer.port;
  }
  throw new Error('a seller did not say where it is');
}
