import type { NodeId } from '../../protocol/ids.ts';
import type { StatementKind, SignedStatement } from '../../protocol/statement/statement.ts';
import type { AgentKeyCipher } from '../governance/agents/agent-key-cipher.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';
import { PeerStatementError } from '../log/members/peer-statement-error.ts';
import { openStatement } from '../log/members/statement-check.ts';
import type { PaymentCipher } from '../payments/payment-cipher.ts';
import type { PayloadCipher } from '../records/payload/payload-cipher.ts';
import type { Table } from '../store/table.ts';
import { reasonOf, type RowSource } from './rows.ts';

/** The rosters and certified keys that the store itself proves; null where it has no valid roster. */
export type ProvenKeys = Pick<FederationKeys, 'rosters' | 'directory'>;

/** What every part of the check works with. */
export interface Check extends RowSource {
  readonly keys: ProvenKeys | null;
  /** The node whose store this is; null where nothing in home and store tells. */
  readonly own: NodeId | null;
  /** Null where the home has no payload key. */
  readonly cipher: PayloadCipher | null;
  readonly agentKeys: AgentKeyCipher | null;
  readonly held: PaymentCipher | null;
}

/** Tables of the store, and the check that proves every row of them. */
export interface TableCheck {
  readonly tables: readonly Pick<Table<unknown>, 'name'>[];
  readonly run: (check: Check) => Promise<void>;
}

/** The value of a signed row, checked under the certified keys. Undefined where it is none, which is then reported. */
export function checkSigned<Value>(
  { report, keys }: Check,
  table: Pick<Table<unknown>, 'name'>,
  key: string,
  kind: StatementKind<Value>,
  signed: SignedStatement,
  signatoryOf: Parameters<typeof openStatement<Value>>[3],
): Value | undefined {
  try {
    return keys === null ? kind.parse(signed.statement) : openStatement(keys, kind, signed, signatoryOf);
  } catch (error) {
    report.problem(table.name, key, reasonOf(error));
    const isReadable = error instanceof PeerStatementError && error.fault !== 'malformed';
    return isReadable ? kind.parse(signed.statement) : undefined;
  }
}
