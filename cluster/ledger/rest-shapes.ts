import { proto } from '@hiero-ledger/proto';
import { RUNNING_HASH_VERSION } from '../../protocol/ledger/running-hash.ts';
import { MILLISECOND, SECOND, timeText } from './consensus-time.ts';
import { SOFTWARE_VERSION } from './network-name.ts';
import type { AccountRow, BlockRow, ChunkRow, MessageRow, TopicRow, TransactionRow } from './rows.ts';
import { TRANSACTION_NAMES, parseSignedTransaction } from './transaction.ts';
import { codeName, entityText, fromLong } from './wire.ts';

/**
 * The JSON of the mirror node REST API, member for member. Members that this ledger has no use for keep their empty
 * value.
 */

const ACCOUNT_AUTO_RENEW_SECONDS = 7_776_000;

function keyJson(key: Uint8Array | null): { _type: string; key: string } | null {
  if (!key) return null;
  const { ed25519, ECDSASecp256k1 } = proto.Key.decode(key);
  if (ed25519?.length) return { _type: 'ED25519', key: hex(ed25519) };
  if (ECDSASecp256k1?.length) return { _type: 'ECDSA_SECP256K1', key: hex(ECDSASecp256k1) };
  return { _type: 'ProtobufEncoded', key: hex(key) };
}

export function topicJson(topic: Readonly<TopicRow>): object {
  return {
    admin_key: keyJson(topic.adminKey),
    auto_renew_account: topic.autoRenewAccount === null ? null : entityText(topic.autoRenewAccount),
    auto_renew_period: Number(topic.autoRenewSeconds),
    created_timestamp: timeText(topic.created),
    custom_fees: { created_timestamp: timeText(topic.created), fixed_fees: [] },
    deleted: topic.deleted,
    fee_exempt_key_list: [],
    fee_schedule_key: null,
    memo: topic.memo,
    submit_key: keyJson(topic.submitKey),
    timestamp: { from: timeText(topic.updated), to: null },
    topic_id: entityText(topic.num),
  };
}

export function messageJson(row: MessageRow, isText: boolean): object {
  return {
    chunk_info: row.chunk && chunkJson(row.chunk),
    consensus_timestamp: timeText(row.at),
    message: isText ? Buffer.from(row.message).toString('utf8') : base64(row.message),
    payer_account_id: entityText(row.payer),
    running_hash: base64(row.runningHash),
    running_hash_version: RUNNING_HASH_VERSION,
    sequence_number: Number(row.sequence),
    topic_id: entityText(row.topic),
  };
}

export function transactionJson(row: TransactionRow): object {
  const { body, operation, hash, node, validStart, validFor } = parseSignedTransaction(row.signed);
  return {
    batch_key: null,
    bytes: null,
    charged_tx_fee: Number(row.fee),
    consensus_timestamp: timeText(row.at),
    entity_id: row.entity === null ? null : entityText(row.entity),
    max_custom_fees: [],
    max_fee: fromLong(body.transactionFee).toString(),
    memo_base64: base64(Buffer.from(body.memo ?? '')),
    name: TRANSACTION_NAMES[operation.kind],
    nft_transfers: [],
    node: entityText(node),
    nonce: 0,
    parent_consensus_timestamp: null,
    result: codeName(row.status),
    scheduled: false,
    staking_reward_transfers: [],
    token_transfers: [],
    transaction_hash: base64(hash),
    transaction_id: restTransactionId(row.id),
    transfers: row.transfers.map(({ account, amount }) => ({
      account: entityText(account),
      amount: Number(amount),
      is_approval: false,
    })),
    valid_duration_seconds: (validFor / SECOND).toString(),
    valid_start_timestamp: timeText(validStart),
  };
}

export function blockJson(block: BlockRow): object {
  const opened = new Date(Number(block.from / MILLISECOND)).toISOString().slice(0, 19).replaceAll(':', '_');
  return {
    count: block.count,
    gas_used: 0,
    hapi_version: SOFTWARE_VERSION,
    hash: `0x${hex(block.hash)}`,
    logs_bloom: '0x',
    name: `${opened}.${(block.from % SECOND).toString().padStart(9, '0')}Z.rcd.gz`,
    number: block.number,
    previous_hash: `0x${hex(block.previous)}`,
    size: null,
    timestamp: { from: timeText(block.from), to: timeText(block.to) },
  };
}

export function accountJson(account: Readonly<AccountRow>, now: bigint): object {
  return {
    account: entityText(account.num),
    alias: null,
    auto_renew_period: ACCOUNT_AUTO_RENEW_SECONDS,
    balance: { balance: Number(account.balance), timestamp: timeText(now), tokens: [] },
    created_timestamp: timeText(account.created),
    decline_reward: false,
    deleted: false,
    ethereum_nonce: 0,
    evm_address: `0x${account.num.toString(16).padStart(40, '0')}`,
    expiry_timestamp: null,
    key: keyJson(account.key),
    max_automatic_token_associations: 0,
    memo: '',
    pending_reward: 0,
    receiver_sig_required: false,
    staked_account_id: null,
    staked_node_id: null,
    stake_period_start: null,
    transactions: [],
    links: { next: null },
  };
}

function chunkJson({ initialPayer, initialValidStart, number, total }: ChunkRow): object {
  const initial = {
    account_id: entityText(initialPayer),
    nonce: 0,
    scheduled: false,
    transaction_valid_start: timeText(initialValidStart),
  };
  return { initial_transaction_id: initial, number, total };
}

/** `0.0.payer@seconds.nanos` as REST writes it: `0.0.payer-seconds-nanos`. */
function restTransactionId(id: string): string {
  const [payer = '', start = ''] = id.split('@');
  return `${payer}-${start.replace('.', '-')}`;
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
