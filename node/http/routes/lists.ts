import type { NodeId } from '../../../protocol/ids.ts';
import { RecordLists } from '../../records/sources/record-page.ts';
import type { BatchStatusSources } from '../../verification/batch-statuses.ts';
import type { KeyRoute } from '../route.ts';
import { attestationExportRoute } from './attestation-export.ts';
import { attestationRoute, type AttestationServices } from './attestation.ts';
import { attestationsRoute } from './attestations.ts';
import { continuityRoute } from './continuity.ts';
import { kindListRoutes } from './kind-lists.ts';
import { sourceModelsRoute } from './source-models.ts';
import { sourcesRoute } from './sources.ts';

export interface ListRouteServices extends BatchStatusSources, Omit<AttestationServices, 'self' | 'store'> {
  readonly node: NodeId;
}

/** What an account has recorded on this node, and whether anything of it is missing (api-rules §10 item 6). */
export function listRoutes(services: ListRouteServices): readonly KeyRoute[] {
  const lists = new RecordLists(services.store, services.node);
  return [
    attestationsRoute({ ...services, lists }),
    attestationExportRoute({ ...services, lists }),
    attestationRoute({ ...services, self: services.node }),
    ...kindListRoutes({ ...services, lists }),
    sourcesRoute({ lists }),
    continuityRoute(lists, services.node),
    sourceModelsRoute({ lists, now: services.now }),
  ];
}
