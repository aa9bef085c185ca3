/** Returns the time at which a UUID of version 7 was created, in milliseconds; undefined for any other id. */
export const timeOfUuid = (id: string): number | undefined => {
  const [, high, low] = VERSION_7.exec(id) ?? [];
  return high === undefined || low === undefined ? undefined : Number.parseInt(high + low, 16);
};

const VERSION_7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
