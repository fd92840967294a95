// Uses the installed reprise::collectives.
#include <reprise/collectives.hpp>
#include <reprise/reprise.hpp>

int main() {
  using namespace reprise;
  const Instance instance;
  const Device host = instance.open_device(DeviceSelector::named("host"));
  return Communicator::from_environment(host).size() == 1 && launched_rank().size == 1 ? 0 : 1;
}
