/**
 * Options of methods that create or submit something. With `idempotency_key`, the request is executed once, however often
 * it is repeated (runtime.md 0.8), and the client itself repeats it once after a lost connection.
 *
 * @example
 * ```ts
 * const options: KeyedOptions = { idempotency_key: 'order-4711' };
 * const { id } = await client.threads.create({ title: 'Order 4711' }, options);
 * ```
 */
export type KeyedOptions = {
  signal?: AbortSignal;
  /** Unique for each request that the caller makes: 1 to 255 visible ASCII characters. */
  idempotency_key?: string;
};
