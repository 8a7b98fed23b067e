import type { CheckResult } from '../../../protocol/api/verify-audit.ts';

/** What one check of an audit came to. `detail` is public: no name, no account, no source, no payload. */
export interface Outcome {
  readonly result: CheckResult;
  readonly detail: string;
}

const WARNING = 'warning: ';

export function passed(detail: string): Outcome {
  return { result: 'pass', detail };
}

/** What passes, and should be looked at. */
export function warned(detail: string): Outcome {
  return passed(WARNING + detail);
}

/** What there is to look at in an outcome that passed; undefined where there is nothing. */
export function warningIn({ result, detail }: Outcome): string | undefined {
  return result === 'pass' && detail.startsWith(WARNING) ? detail.slice(WARNING.length) : undefined;
}

export function failed(detail: string): Outcome {
  return { result: 'fail', detail };
}

export function skipped(detail: string): Outcome {
  return { result: 'skipped', detail };
}
