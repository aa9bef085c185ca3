/** AWS regions, and the hosts of its services in them. */

/** Part of a host name. Excludes every character that could change the host. */
export const REGION = /^[a-z]{2}(-[a-z]+)+-\d{1,2}$/;

export const awsHost = (service: string, region: string): string =>
  `${service}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
