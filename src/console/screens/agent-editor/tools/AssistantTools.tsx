import { isObject, list, object, text, withDefault } from '../../../data/guard.ts';
import { Icon } from '../../../design/Icon.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import css from './Tools.module.css';
import { texts } from './texts.ts';

const Bound = list(object({ id: text, label: withDefault(text, '') }));

const boundIn = (assistant: unknown) => {
  try {
    return isObject(assistant) ? Bound(assistant.bound_tools ?? [], '') : [];
  } catch {
    return [];
  }
};

/** Tools that only the admin assistant has: to be seen, and not to be chosen. */
export const AssistantTools = ({ assistant }: { assistant: unknown }) => {
  const t = useTexts(texts);
  const tools = boundIn(assistant);
  if (tools.length === 0) return null;
  return (
    <details className={css.locked}>
      <summary>
        <Icon name="lock" size={14} /> {t('assistant', { count: tools.length })}
      </summary>
      <p className={css.none}>{t('assistant.text')}</p>
      <ul>
        {tools.map(({ id, label }) => (
          <li key={id}>
            <span className={css.mono}>{id}</span> <span className={css.about}>{label}</span>
          </li>
        ))}
      </ul>
    </details>
  );
};
