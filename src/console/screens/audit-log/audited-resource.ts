import { entryHref } from '../../navigation/entry-paths.ts';
import { placeOf } from './audit-event.ts';

/** The address of the screen that shows a resource; empty if there is none. */
export const hrefOf = (resource: string): string => {
  const place = placeOf(resource);
  return place ? entryHref(place.namespace, place.id) : '';
};
