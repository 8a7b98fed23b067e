/** `GET /v1/certificates/:id`: a PDF of one page, with the file that proves the record inside. */
export const CERTIFICATE_TYPE = 'application/pdf';

/** How it begins: what follows is for a program. */
export const CERTIFICATE_EXAMPLE = '%PDF-1.7\n…';
