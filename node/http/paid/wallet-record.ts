import {
  AddressParameterShape,
  WALLET_RECORD_EXAMPLE,
  WALLET_RECORD_SCOPE,
  WalletRecordAnswerShape,
} from '../../../protocol/api/paid-wallet-record.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';
import { isWalletAddress, type WalletAddress } from '../../../protocol/payments/payment.ts';
import { USDC } from '../../../protocol/payments/usdc.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { SettlementLedger, WalletStanding } from '../../payments/settlement-ledger.ts';
import { fieldProblem } from '../problem.ts';
import type { PaidRoute } from '../route.ts';
import { attestSummary, type VerifyUrl } from './attested-summary.ts';

export interface WalletRecordServices {
  readonly verifyUrl: VerifyUrl;
  readonly settlements: Pick<SettlementLedger, 'standingOf'>;
  readonly now: () => number;
}

const SOURCE = 'meridian/wallet-record';

/** `GET /v1/x402/wallet-record/:address` (api-rules §4.1): what a wallet has paid here, attested. */
export function walletRecordRoute({ settlements, now, verifyUrl }: WalletRecordServices): PaidRoute {
  return {
    method: 'GET',
    path: '/v1/x402/wallet-record/:address',
    access: 'paid',
    service: 'wallet-record',
    documentation: {
      summary: 'What a wallet has paid this service',
      description:
        'Sums up the payments of a wallet that were settled with this node, from its append-only settlement ledger. The ' +
        'call itself is not among them. A wallet that never paid is answered with zeros, and charged: that there is ' +
        'nothing is the answer. The payload of the record is the canonical JSON of all members but `success`, `salt`, ' +
        '`attestation` and `payment`; `salt` is that of its `payloadHash`.',
      params: {
        address: {
          description: 'Address of the wallet, in any case.',
          shape: AddressParameterShape,
          example: WALLET_RECORD_EXAMPLE.address,
        },
      },
      answer: { shape: WalletRecordAnswerShape, example: WALLET_RECORD_EXAMPLE.answer },
      problems: ['invalid-field', 'queue-full'],
    },
    checkPath({ params }) {
      addressParameter(params);
    },
    prepare({ params }) {
      const address = addressParameter(params);
      return (paid) =>
        attestSummary(paid, { kind: 'wallet_record', sourceId: SOURCE, verifyUrl }, async () => {
          const asOf = timestampOf(now());
          return {
            members: { ...summaryOf(address, await settlements.standingOf(address), asOf) },
            claims: { observedAt: asOf },
          };
        });
    },
  };
}

function summaryOf(address: WalletAddress, { head, summary }: WalletStanding, asOf: string): JsonObject {
  const services = Object.entries(summary?.services ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    address,
    settlementCount: summary?.count ?? 0,
    firstSeen: summary?.firstSeen ?? null,
    lastSeen: summary?.lastSeen ?? null,
    totalSpent: { amount: summary?.spent ?? '0', asset: USDC.asset, decimals: USDC.decimals },
    servicesUsed: services.map(([service, { count, spent }]) => ({ service, count, spent })),
    ledger: { entryCount: head.entries, headHash: head.hash, asOf },
    scope: WALLET_RECORD_SCOPE,
  };
}

/** The wallet address in a path, in lower case; its checksum is not looked at. Throws `Problem` 400. */
export function addressParameter({ address = '' }: Readonly<Record<string, string>>): WalletAddress {
  const lower = `0x${address.slice(2).toLowerCase()}`;
  if (address.startsWith('0x') && isWalletAddress(lower)) return lower;
  throw fieldProblem('address', 'pattern', 'is not 0x and 40 hex digits');
}
