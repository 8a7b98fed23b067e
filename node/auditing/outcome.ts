import type { CheckResult } from '../../protocol/api/verify-audit.ts';

/** What one check of an audit came to. `detail` is public: no name, no account, no source, no payload. */
export interface Outcome {
  readonly result: CheckResult;
  readonly detail: string;
}

export function passed(detail: string): Outcome {
  return { result: 'pass', detail };
}

export function failed(detail: string): Outcome {
  return { result: 'fail', detail };
}

export function skipped(detail: string): Outcome {
  return { result: 'skipped', detail };
}
