import type { Zone } from '../i18n/format.ts';

/** Times of the address, which have a time zone, as values of an input, which have none. */

export const isTime = (value: string): boolean => /^\d{4}-\d\d-\d\dT/.test(value);

/** Undefined for an empty or incomplete value. */
export const fromField = (value: string, zone: Zone): string | undefined => {
  const at = Date.parse(zone === 'utc' && value !== '' ? `${value}Z` : value);
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
};

export const toField = (value: string, zone: Zone): string => {
  const at = Date.parse(value);
  if (Number.isNaN(at)) return '';
  const shifted = zone === 'utc' ? at : at - new Date(at).getTimezoneOffset() * 60_000;
  return new Date(shifted).toISOString().slice(0, 16);
};
