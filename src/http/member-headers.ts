/** A response states the name of the member that made it, and a forwarded request the signature of its sender. */
export const MEMBER_HEADER = 'x-troupe-member';

/** The request had no effect, so it may be sent to another member. */
export const UNTOUCHED_HEADER = 'x-troupe-untouched';
