import type { BoundTool } from '../../assistant/state.ts';
import { Chip } from '../../design/Chip.tsx';
import { Icon } from '../../design/Icon.tsx';
import { Card } from '../../design/Layout.tsx';
import { useTexts } from '../../i18n/locale.ts';
import css from './Assistant.module.css';
import { texts } from './texts.ts';

/** What belongs to the service: its instructions, and what it can do. */
export const BoundTools = ({ tools }: { tools: readonly BoundTool[] }) => {
  const t = useTexts(texts);
  return (
    <Card title={t('locked')} note={t('locked.note')} flush>
      <ul className={css.locked}>
        <li>
          <Icon name="lock" size={14} />
          <span>{t('locked.prompt')}</span>
        </li>
        {tools.map(({ id, label, description, requires_confirmation }) => (
          <li key={id} title={description}>
            <Icon name="lock" size={14} />
            <code>{id}</code>
            <span className="visually-hidden">{label}</span>
            {requires_confirmation && <Chip tone="warn">{t('locked.asks')}</Chip>}
          </li>
        ))}
      </ul>
    </Card>
  );
};
