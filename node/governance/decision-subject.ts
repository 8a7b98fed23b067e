import type { JsonObject } from '../../protocol/json/value.ts';
import { AUTHORITY_NOTIFICATION } from '../../protocol/compliance/notification-clock.ts';
import type { DecisionDraft } from '../verification/attestation/decision-drafts.ts';
import type { Caller } from '../accounts/caller.ts';
import type { AccountRecords } from './account-records.ts';
import type { Subjects } from './subjects.ts';

export interface DecisionSubjectServices {
  readonly records: Pick<AccountRecords, 'findIncident' | 'requireIncident'>;
  readonly subjects: Pick<Subjects, 'row'>;
}

/** What a decision says it is about. */
export interface DecisionSubject {
  readonly data: JsonObject;
  readonly incidentId?: string;
  readonly subjectRef?: string;
}

/** A draft, and what its caller should know of it. */
interface AddressedDraft {
  readonly draft: DecisionDraft;
  readonly warnings: readonly string[];
}

/** The draft with its link to an incident and the row by which its person is found. Throws `ComplianceError`. */
export async function addressed(
  services: DecisionSubjectServices,
  caller: Caller,
  request: DecisionSubject,
  draft: DecisionDraft,
): Promise<AddressedDraft> {
  const { subjectRef } = request;
  const found =
    subjectRef === undefined
      ? draft
      : {
          ...draft,
          besides: (id: Parameters<NonNullable<DecisionDraft['besides']>>[0]) => [
            ...(draft.besides?.(id) ?? []),
            services.subjects.row(caller.account.id, subjectRef, id),
          ],
        };
  return linkedToIncident(services, caller, request, found);
}

/**
 * What `data` says is the caller's own material: a notification that names no incident there is recorded all the same.
 */
async function linkedToIncident(
  { records }: DecisionSubjectServices,
  caller: Caller,
  { incidentId, data }: DecisionSubject,
  draft: DecisionDraft,
): Promise<AddressedDraft> {
  const linkedTo = (incident: DecisionDraft['links']['incident']): AddressedDraft => ({
    draft: { ...draft, links: { ...draft.links, incident } },
    warnings: [],
  });
  if (incidentId !== undefined) {
    return linkedTo((await records.requireIncident(caller, incidentId, 'incidentId')).id);
  }
  const named = draft.claims.eventType === AUTHORITY_NOTIFICATION ? data.incidentId : undefined;
  if (typeof named !== 'string') return { draft, warnings: [] };
  const incident = await records.findIncident(caller, named);
  if (incident !== undefined) return linkedTo(incident.id);
  return { draft, warnings: ['data.incidentId: there is no incident of this id; the notification is linked to none'] };
}
