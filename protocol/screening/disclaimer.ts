/** Stands in every answer about lists. */
export const SCREENING_DISCLAIMER = 'Audit evidence; not a compliance determination.';
