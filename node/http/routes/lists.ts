import type { NodeId } from '../../../protocol/ids.ts';
import { RecordLists } from '../../records/sources/record-page.ts';
import type { BatchStatusSources } from '../../verification/batch-statuses.ts';
import type { KeyRoute } from '../route.ts';
import { attestationsRoute } from './attestations.ts';
import { continuityRoute } from './continuity.ts';

export interface ListRouteServices extends BatchStatusSources {
  readonly node: NodeId;
  readonly now: () => number;
}

/** What an account has recorded on this node, and whether anything of it is missing (api-rules §10 item 6). */
export function listRoutes(services: ListRouteServices): readonly KeyRoute[] {
  const lists = new RecordLists(services.store, services.node);
  return [attestationsRoute({ ...services, lists }), continuityRoute(lists, services.node)];
}
