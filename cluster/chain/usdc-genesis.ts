import { encodeFunctionData, type Hex, parseAbi, parseEther, parseUnits } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { USDC } from '../../protocol/payments/usdc.ts';
import { type ChainClient, MULTICALL3_ADDRESS } from './chain-client.ts';
import { addressOfKey, type ChainWallets } from './chain-wallets.ts';
import { receiptOf } from './receipt.ts';
import { multicallCreationCode, signatureCheckerCode, tokenCode } from './usdc-code.ts';

/** Of the demo wallet, in dollars. */
export const DEMO_USDC = '10000';
/** Fees are next to nothing here. In ether. */
const DEMO_ETHER = '1';
const WORKING_ETHER = '1000';
/** Dollars that the minter may make. */
const MINTER_ALLOWANCE = '1000000000000';
/** Anywhere where nothing else is. */
const LIBRARY_ADDRESS = '0x5516000000000000000000000000000000C4EC4e';
/** Enough for each of the calls below, so that nothing has to be estimated. */
const CALL_GAS = 500_000n;
/** Far above the base fee of a chain that is never full. In wei. */
const MAX_FEE = 10n ** 11n;

const abi = parseAbi([
  'function initialize(string,string,string,uint8,address,address,address,address)',
  'function initializeV2(string)',
  'function initializeV2_1(address)',
  'function initializeV2_2(address[],string)',
  'function configureMinter(address,uint256)',
  'function mint(address,uint256)',
]);

/**
 * Puts Circle's own USDC at its address on Base, Multicall3 at its own, and money into the wallets. To be done once on
 * a chain that mines by itself.
 */
export async function makeGenesis(client: ChainClient, wallets: ChainWallets): Promise<void> {
  const admin = addressOfKey(wallets.minter);
  await placeCode(client);
  await client.setBalance({ address: admin, value: parseEther(WORKING_ETHER) });
  await client.setBalance({ address: addressOfKey(wallets.demo), value: parseEther(DEMO_ETHER) });
  for (const key of Object.values(wallets.facilitators)) {
    await client.setBalance({ address: addressOfKey(key), value: parseEther(WORKING_ETHER) });
  }
  await callToken(client, wallets.minter, [
    encodeFunctionData({
      abi,
      functionName: 'initialize',
      args: ['USD Coin', 'USDC', 'USD', USDC.decimals, admin, admin, admin, admin],
    }),
    encodeFunctionData({ abi, functionName: 'initializeV2', args: [USDC.name] }),
    encodeFunctionData({ abi, functionName: 'initializeV2_1', args: [admin] }),
    encodeFunctionData({ abi, functionName: 'initializeV2_2', args: [[], 'USDC'] }),
    encodeFunctionData({
      abi,
      functionName: 'configureMinter',
      args: [admin, parseUnits(MINTER_ALLOWANCE, USDC.decimals)],
    }),
    encodeFunctionData({
      abi,
      functionName: 'mint',
      args: [addressOfKey(wallets.demo), parseUnits(DEMO_USDC, USDC.decimals)],
    }),
  ]);
}

/** Makes new USDC, in atomic units. Resolves once it is there. */
export async function mintUsdc(client: ChainClient, minter: Hex, to: Hex, amount: bigint): Promise<void> {
  await callToken(client, minter, [encodeFunctionData({ abi, functionName: 'mint', args: [to, amount] })]);
}

async function placeCode(client: ChainClient): Promise<void> {
  const { data: multicall } = await client.call({ data: await multicallCreationCode() });
  if (multicall === undefined) throw new Error('Multicall3 could not be made');
  await client.setCode({ address: MULTICALL3_ADDRESS, bytecode: multicall });
  await client.setCode({ address: LIBRARY_ADDRESS, bytecode: signatureCheckerCode() });
  await client.setCode({ address: USDC.asset, bytecode: tokenCode(LIBRARY_ADDRESS) });
}

/** One transaction each, in order; the last one's receipt stands for all of them. */
async function callToken(client: ChainClient, minter: Hex, calls: readonly Hex[]): Promise<void> {
  const account = privateKeyToAccount(minter);
  const first = await client.getTransactionCount({ address: account.address });
  const hashes: Hex[] = [];
  for (const [i, data] of calls.entries()) {
    const serializedTransaction = await account.signTransaction({
      type: 'eip1559',
      chainId: client.chain.id,
      nonce: first + i,
      gas: CALL_GAS,
      maxFeePerGas: MAX_FEE,
      maxPriorityFeePerGas: 1n,
      to: USDC.asset,
      data,
    });
    hashes.push(await client.sendRawTransaction({ serializedTransaction }));
  }
  for (const hash of hashes) {
    const { status } = await receiptOf(client, hash);
    if (status !== 'success') throw new Error('the token refused a call of its owner');
  }
}
