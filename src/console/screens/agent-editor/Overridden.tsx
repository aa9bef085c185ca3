import { createContext, type ReactNode, useContext, useMemo } from 'react';
import { IconButton } from '../../design/Button.tsx';
import { useTexts } from '../../i18n/locale.ts';
import css from './AgentEditor.module.css';
import { texts } from './texts.ts';

/** The fields of a built-in agent that are overridden, each with a button that resets it. */

type Known = { fields: ReadonlySet<string>; onReset: (field: string) => void };

const Context = createContext<Known>({ fields: new Set(), onReset: () => {} });

export const Overrides = ({ fields, onReset, children }: Known & { children: ReactNode }) => {
  const known = useMemo(() => ({ fields, onReset }), [fields, onReset]);
  return <Context value={known}>{children}</Context>;
};

/** Wraps the input of a top-level field, or a group of such inputs. */
export const Resettable = ({ field, children }: { field: string; children: ReactNode }) => {
  const t = useTexts(texts);
  const { fields, onReset } = useContext(Context);
  const isSet = fields.has(field);
  return (
    <div className={css.resettable} data-reset={isSet || undefined}>
      {children}
      {isSet && (
        <span className={css.reset}>
          <IconButton small icon="history" label={t('resetField')} onClick={() => onReset(field)} />
        </span>
      )}
    </div>
  );
};
