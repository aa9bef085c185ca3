import { useResource } from '../../data/queries.ts';
import { redactText } from '../../data/redact-text.ts';
import { Chip } from '../../design/Chip.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { healthOf, LIST_EVERY, type Status, statusOf, TONES } from './server.ts';
import { texts } from './texts.ts';

export const HealthChip = ({ status }: { status: Status }) => {
  const t = useTexts(texts);
  const health = healthOf(status);
  const why = status.last_error === null ? undefined : redactText(status.last_error);
  return (
    <Chip tone={TONES[health]} {...(why !== undefined && !status.connected && { title: why })}>
      {t(`health.${health}`, { count: status.consecutive_failures })}
    </Chip>
  );
};

/** Of a row: each is asked for by itself. */
export const RowHealth = ({ id }: { id: string }) => {
  const t = useTexts(texts);
  const query = useResource(statusOf(id, LIST_EVERY));
  if (query.data) return <HealthChip status={query.data} />;
  return <Chip>{query.error ? t('health.unknown') : '…'}</Chip>;
};
