import { Menu } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { IconButton } from '../design/Button.tsx';
import { Icon, type IconName } from '../design/Icon.tsx';
import { toast } from '../feedback/toasts.ts';
import { useTexts } from '../i18n/locale.ts';
import { useGo } from '../navigation/links.tsx';
import css from './List.module.css';
import listTexts from './texts.json' with { type: 'json' };

export type MenuItem = {
  label: string;
  icon?: IconName;
  tone?: 'danger';
  testId?: string;
  isOff?: boolean;
  /** A function, or the screen that the item opens. */
  act: (() => void) | string;
};

const MenuItems = ({ items }: { items: readonly MenuItem[] }) => {
  const go = useGo();
  return items.map(({ label, icon, tone, testId, isOff, act }) => (
    <Menu.Item
      key={label}
      leftSection={icon && <Icon name={icon} />}
      data-tone={tone}
      data-testid={testId}
      disabled={isOff === true}
      onClick={typeof act === 'string' ? () => go(act) : act}
    >
      {label}
    </Menu.Item>
  ));
};

/** The rare actions of a screen, and its deletion. */
export const OverflowMenu = ({ label, items }: { label: string; items: readonly MenuItem[] }) => (
  <Menu>
    <Menu.Target>
      <IconButton icon="more" label={label} />
    </Menu.Target>
    <Menu.Dropdown>
      <MenuItems items={items} />
    </Menu.Dropdown>
  </Menu>
);

/** The actions of a row, and its id. The menu is made when it is first opened, because a list has many rows. */
export const RowMenu = ({ id, items }: { id: string; items: readonly MenuItem[] }) => {
  const t = useTexts(listTexts);
  const [isMade, make] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const target = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isMade) return;
    // Making the menu replaces the button, to which the focus has to return.
    target.current?.focus();
    setOpen(true);
  }, [isMade]);
  const copy = (): void =>
    void navigator.clipboard?.writeText(id).then(() => toast('info', t('copied', { id })));
  const button = (
    <button
      type="button"
      ref={target}
      className={css.menuButton}
      aria-label={t('actionsOf', { row: id })}
      aria-haspopup="menu"
      onClick={isMade ? undefined : () => make(true)}
    >
      <Icon name="more" />
    </button>
  );
  if (!isMade) return button;
  return (
    <Menu opened={isOpen} onChange={setOpen}>
      <Menu.Target>{button}</Menu.Target>
      <Menu.Dropdown>
        <MenuItems items={[...items, { label: t('copyId'), icon: 'copy', act: copy }]} />
      </Menu.Dropdown>
    </Menu>
  );
};
