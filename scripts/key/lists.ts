import type { Account } from '../../node/accounts/account.ts';
import { AccountKeysAnswerShape, AccountsAnswerShape } from '../../node/operator/account-forms.ts';
import type { KeyAnswer } from '../../protocol/api/keys.ts';
import { ask, askAll, type Outcome, outcomeOf } from './ask.ts';
import type { Target } from './targets.ts';

/** The accounts of every node, all pages of them. */
export function listAccounts(targets: readonly Target[]): Promise<Outcome<readonly Account[]>[]> {
  return Promise.all(targets.map((target) => outcomeOf(target, accountsOf(target))));
}

/** The keys that every node has of an account. */
export async function listKeys(targets: readonly Target[], account: string): Promise<Outcome<readonly KeyAnswer[]>[]> {
  const path = `/accounts/${encodeURIComponent(account)}/keys`;
  const outcomes = await askAll(targets, { method: 'GET', path, answer: AccountKeysAnswerShape });
  return outcomes.map((outcome) =>
    outcome.ok ? { node: outcome.node, ok: true, answer: outcome.answer.keys } : outcome,
  );
}

async function accountsOf(target: Target): Promise<readonly Account[]> {
  const accounts: Account[] = [];
  for (let path: string | null = '/accounts'; path !== null;) {
    const page: { readonly accounts: readonly Account[]; readonly next: string | null } = await ask(target, {
      method: 'GET',
      path,
      answer: AccountsAnswerShape,
    });
    accounts.push(...page.accounts);
    path = page.next === null ? null : `/accounts?after=${encodeURIComponent(page.next)}`;
  }
  return accounts;
}
