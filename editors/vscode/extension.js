"use strict";
// The client of `dipc lsp`: everything that is known of a program is said by dipc itself.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function start(context) {
  const command = vscode.workspace.getConfiguration("dipwhile").get("command", "dipc");
  const server = { command, args: ["lsp"] };
  client = new LanguageClient("dipwhile", "DiPWhile+", server, { documentSelector: [{ language: "dipwhile" }] });
  try {
    await client.start();
  } catch (error) {
    const told = `dipc lsp does not start: ${error.message}. Install it with pip install '.[lsp]' in a checkout, or say where it is.`;
    const open = "Open Settings";
    if ((await vscode.window.showErrorMessage(told, open)) === open) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "dipwhile.command");
    }
  }
}

exports.activate = async function (context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("dipwhile.restart", async () => {
      await exports.deactivate();
      await start(context);
    }),
  );
  await start(context);
};

exports.deactivate = async function () {
  if (client !== undefined && client.needsStop()) {
    await client.stop();
  }
  client = undefined;
};
