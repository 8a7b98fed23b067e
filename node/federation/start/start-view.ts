import type { Static } from 'typebox';
import type { StartWaitShape } from '../../../protocol/api/start-waits.ts';
import type { StartWait } from './start-rule.ts';

/** A wait as it is answered. */
export function startWaitAnswer(wait: StartWait): Static<typeof StartWaitShape> {
  return wait.for === 'members' ? { ...wait, answered: [...wait.answered], missing: [...wait.missing] } : { ...wait };
}
